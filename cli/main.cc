// resmem: finds the command, parses its line, runs it, and turns its Status into an exit code.
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "command.h"
#include "console/help.h"
#include "console/interrupt.h"
#include "console/output.h"
#include "console/suggest.h"
#include "resmem/knn_index.h"
#include "resmem/version.h"

namespace resmem::cli {
namespace {

std::string Overview() {
  std::string text = "resmem " + Version() + ": a memory of residuals for any prediction model\n\n";
  text += "Usage: resmem COMMAND [options]\n";
  size_t longest = 0;
  for (const CommandEntry& entry : Commands()) {
    longest = std::max(longest, std::string_view(entry.name).size());
  }
  std::string group;
  for (const CommandEntry& entry : Commands()) {
    if (group != entry.group) text += "\n" + (group = entry.group) + ":\n";
    std::string title = std::string("  ") + entry.name;
    title.resize(longest + 4, ' ');
    text += title + Declare(entry).line.summary() + "\n";
  }
  text +=
      "\n'resmem COMMAND --help' explains one of them. The first three steps:\n"
      "  resmem memorize --data train.npz -o my.resmem\n"
      "  resmem tune my.resmem --data validation.npz\n"
      "  resmem eval my.resmem --data test.npz\n";
  return text;
}

Result<ExitCode> PrintText(const std::string& text) {
  RESMEM_RETURN_IF_ERROR(PrintResult(text));
  return ExitCode::kOk;
}

Status UnknownCommand(const std::string& word) {
  std::vector<std::string> names = {"help"};
  for (const CommandEntry& entry : Commands()) names.emplace_back(entry.name);
  const std::string near = NearestWord(word, names);
  return Status(ErrorCode::kInvalidArgument,
                "resmem has no command '" + word + "'; " +
                    (near.empty() ? "'resmem --help' lists them" : "did you mean " + near + "?"));
}

// The entry whose name is how `words` begin, and how many words that are; null: none.
const CommandEntry* FindCommand(const std::vector<std::string>& words, size_t* name_words) {
  for (const CommandEntry& entry : Commands()) {
    const std::string name = entry.name;
    *name_words = name.find(' ') == std::string::npos ? 1 : 2;
    if (words[0] == name) return &entry;
    if (words.size() >= 2 && words[0] + " " + words[1] == name) return &entry;
  }
  return nullptr;
}

// `resmem base`: the commands of a family; empty where there is no such family.
std::string FamilyOverview(const std::string& word) {
  std::string text;
  for (const CommandEntry& entry : Commands()) {
    const std::string name = entry.name;
    if (!name.starts_with(word + " ")) continue;
    text += "  resmem " + name + ": " + Declare(entry).line.summary() + "\n";
  }
  return text;
}

void WarnOfUnknownSimd(Console& console) {
  const char* wanted = std::getenv("RESMEM_SIMD");
  if (wanted == nullptr || *wanted == '\0' || SimdName() == wanted) return;
  std::string known;
  for (const std::string& name : SimdNamesAvailable()) known += (known.empty() ? "" : ", ") + name;
  console.Warn("RESMEM_SIMD=" + std::string(wanted) + " is not one of this machine's: " + known +
               "; going on with " + SimdName());
}

Result<ExitCode> RunWords(std::vector<std::string> words, Console& console) {
  if (words.empty() || words[0] == "--help" || words[0] == "-h") return PrintText(Overview());
  if (words[0] == "--version") words[0] = "version";
  if (words[0] == "help") {
    words.erase(words.begin());
    if (words.empty()) return PrintText(Overview());
    words.emplace_back("--help");
  }
  size_t name_words = 0;
  const CommandEntry* entry = FindCommand(words, &name_words);
  if (entry == nullptr) {
    const std::string family = FamilyOverview(words[0]);
    if (family.empty()) return UnknownCommand(words[0]);
    if (words.size() > 1 && words[1] != "--help" && words[1] != "-h") {
      return UnknownCommand(words[0] + " " + words[1]);
    }
    return PrintText(family);
  }
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
  if (result.status().code() == ErrorCode::kCancelled) {
    const int signal = InterruptSignal();
    if (signal != 0) console.Error("stopped; nothing was left half-written");
    return 128 + (signal != 0 ? signal : SIGPIPE);
  }
  console.Error(result.status().message());
  return static_cast<int>(ExitCodeOf(result.status().code()));
}

int Main(int argc, char** argv) {
  InstallSignalHandlers();
  Console console(std::vector<std::string>(argv, argv + argc));
  try {
    return Finish(RunWords(std::vector<std::string>(argv + 1, argv + argc), console), console);
  } catch (const std::bad_alloc&) {
    console.Error("out of memory; free some, or work on fewer rows at a time");
    return static_cast<int>(ExitCode::kOutOfResources);
  } catch (const std::exception& exception) {
    console.Error(std::string("a fault of resmem itself: ") + exception.what());
    return static_cast<int>(ExitCode::kFailure);
  }
}

}  // namespace
}  // namespace resmem::cli

int main(int argc, char** argv) {
  return resmem::cli::Main(argc, argv);
}
