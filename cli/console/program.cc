#include "console/program.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "console/interrupt.h"
#include "console/output.h"
#include "help/help.h"
#include "help/suggest.h"
#include "process/last_words.h"
#include "resmem/version.h"
#include "resmem_program/simd.h"
#include "resmem_program/system_error.h"

namespace resmem::cli {
namespace {

// A line of the overview.
struct Listed {
  std::string group, name, summary;
};

// What can be run here: the program's own commands and those of the siblings that are installed.
std::vector<Listed> ListCommands(const Program& program) {
  std::vector<Listed> listed;
  for (const CommandEntry& entry : program.commands) {
    listed.push_back({entry.group, entry.name, Declare(entry).line.summary()});
  }
  for (const SiblingCommand& sibling : program.siblings) {
    if (FindSibling(sibling.program).empty()) continue;
    const auto same = [&](const Listed& line) { return line.group == sibling.group; };
    const auto last = std::find_if(listed.rbegin(), listed.rend(), same);
    listed.insert(last == listed.rend() ? listed.end() : last.base(),
                  {sibling.group, sibling.name, sibling.summary});
  }
  return listed;
}

std::string Overview(const Program& program) {
  const std::string name = program.name;
  std::string text = name + " " + Version() + ": " + program.summary + "\n\nUsage: " + name +
                     " COMMAND [options]\n";
  const std::vector<Listed> listed = ListCommands(program);
  size_t longest = 0;
  for (const Listed& line : listed) longest = std::max(longest, line.name.size());
  std::string group;
  for (const Listed& line : listed) {
    if (group != line.group) text += "\n" + (group = line.group) + ":\n";
    std::string title = "  " + line.name;
    title.resize(longest + 4, ' ');
    text += title + line.summary + "\n";
  }
  return text + "\n'" + name + " COMMAND --help' explains one of them." + program.first_steps;
}

Result<ExitCode> PrintText(const std::string& text) {
  RESMEM_RETURN_IF_ERROR(PrintResult(text));
  return ExitCode::kOk;
}

Status UnknownCommand(const Program& program, const std::string& word) {
  std::vector<std::string> names = {"help"};
  for (const Listed& line : ListCommands(program)) names.push_back(line.name);
  const std::string near = NearestWord(word, names);
  return Status(ErrorCode::kInvalidArgument,
                std::string(program.name) + " has no command '" + word + "'; " +
                    (near.empty() ? "'" + std::string(program.name) + " --help' lists the commands"
                                  : "did you mean " + near + "?"));
}

// Is `name` how `words` begin?
bool BeginsWith(const std::vector<std::string>& words, std::string_view name) {
  return words[0] == name || (words.size() >= 2 && words[0] + " " + words[1] == name);
}

// `resmem base`: the commands of a family; empty where there is no such family.
std::string FamilyOverview(const Program& program, const std::string& word) {
  std::string text;
  for (const Listed& line : ListCommands(program)) {
    if (!line.name.starts_with(word + " ")) continue;
    text += "  resmem " + line.name + ": " + line.summary + "\n";
  }
  return text;
}

void WarnOfUnknownSimd(Console& console) {
  const char* wanted = std::getenv("RESMEM_SIMD");
  if (wanted == nullptr || *wanted == '\0' || SimdName() == wanted) return;
  std::string known;
  for (const std::string& name : SimdNamesAvailable()) known += (known.empty() ? "" : ", ") + name;
  console.Warn("RESMEM_SIMD=" + std::string(wanted) +
               " is not available on this machine: " + known + "; continuing with " + SimdName());
}

Result<ExitCode> RunWords(const Program& program, std::vector<std::string> words,
                          Console& console) {
  if (words.empty() || words[0] == "--help" || words[0] == "-h")
    return PrintText(Overview(program));
  if (words[0] == "--version") words[0] = "version";
  if (words[0] == "help") {
    words.erase(words.begin());
    if (words.empty()) return PrintText(Overview(program));
    words.emplace_back("--help");
  }
  for (const SiblingCommand& sibling : program.siblings) {
    if (BeginsWith(words, sibling.name)) return BecomeSibling(sibling, words);
  }
  const auto entry =
      std::find_if(program.commands.begin(), program.commands.end(),
                   [&](const CommandEntry& each) { return BeginsWith(words, each.name); });
  if (entry == program.commands.end()) {
    const std::string family = FamilyOverview(program, words[0]);
    if (family.empty()) return UnknownCommand(program, words[0]);
    if (words.size() > 1 && words[1] != "--help" && words[1] != "-h") {
      return UnknownCommand(program, words[0] + " " + words[1]);
    }
    return PrintText(family);
  }
  const size_t name_words = std::string_view(entry->name).find(' ') == std::string::npos ? 1 : 2;
  Declared declared = Declare(*entry);
  const Status parsed = declared.line.Parse(std::span(words).subspan(name_words));
  if (declared.line.help_wanted()) return PrintText(HelpText(declared.line));
  if (!parsed.ok()) {
    console.Error(parsed.message());
    console.Note("usage: " + UsageText(declared.line) + "\n'resmem " + entry->name +
                 " --help' explains every option");
    return ExitCode::kUsage;
  }
  console.set_quiet(*declared.quiet);
  WarnOfUnknownSimd(console);
  return declared.command->Run(console);
}

int Finish(const Result<ExitCode>& result, Console& console) {
  if (result.ok()) return static_cast<int>(*result);
  const Status& status = result.status();
  if (status.code() == ErrorCode::kCancelled) {
    const int signal = InterruptSignal();
    if (signal != 0) {
      console.Error("stopped; nothing was left half-written",
                    ChangeWasMade() ? StateOfChange("") : "");
    } else if (ChangeWasMade()) {
      console.Error(status.message(), StateOfChange(""));
    }
    return 128 + (signal != 0 ? signal : SIGPIPE);
  }
  const ExitCode code = ExitCodeOf(status.code());
  const bool unclear = code == ExitCode::kOutOfResources || code == ExitCode::kFailure;
  console.Error(status.message(),
                unclear || ChangeWasMade() ? StateOfChange(status.message()) : "");
  return static_cast<int>(code);
}

// Before any other global of ours is made, which may find no memory.
[[gnu::constructor(101)]] void Prepare() {
  PrepareForTheWorst();
}

}  // namespace

Declared Declare(const CommandEntry& entry) {
  Declared declared{entry.make(), CommandLine(entry.name), std::make_unique<bool>(false)};
  declared.command->Declare(declared.line);
  declared.line.Group("General");
  declared.line.Flag("--quiet", declared.quiet.get(), "no notes and no progress on stderr");
  bool unused = false;
  declared.line.Flag("--help", &unused, "this text").Short("-h");
  return declared;
}

int RunProgram(const Program& program, int argc, char** argv) {
  InstallSignalHandlers();
  try {
    Console console(std::vector<std::string>(argv, argv + argc));
    try {
      return Finish(RunWords(program, std::vector<std::string>(argv + 1, argv + argc), console),
                    console);
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::system_error& error) {  // of a file or a thread
      return Finish(Status(CodeOfSystemError(error.code().value()),
                           std::string("the system refused: ") + error.what()),
                    console);
    } catch (const std::exception& exception) {
      console.Error(
          std::string("a bug in resmem, please report it with this command: ") + exception.what(),
          StateOfChange(""));
      return static_cast<int>(ExitCode::kBug);
    }
  } catch (const std::bad_alloc&) {
    return SayOutOfMemory();
  }
}

}  // namespace resmem::cli
