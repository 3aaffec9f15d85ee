// resmem completion: a script for the shell, written from what the commands declare.
#include <algorithm>
#include <cstdio>
#include <deque>
#include <memory>
#include <regex>

#include "commands/commands.h"
#include "console/output.h"
#include "help/completion_scripts.h"

namespace resmem::cli {
namespace {

// What the sibling's own help says that the command accepts.
CommandLine ReadSiblingLine(const SiblingCommand& sibling, const std::string& program) {
  CommandLine line(sibling.name);
  line.About(sibling.summary);
  const std::string command = "'" + program + "' " + sibling.name + " --help";
  const std::unique_ptr<FILE, int (*)(FILE*)> help(popen(command.c_str(), "r"), pclose);
  if (help == nullptr) return line;
  static std::string unused_text;
  static bool unused_flag;
  const std::regex option("^  (?:-[a-z], )?(--[a-z-]+)( [A-Z]+)?.*\n?");
  char text[512];
  while (std::fgets(text, sizeof text, help.get()) != nullptr) {
    std::cmatch found;
    if (!std::regex_match(text, found, option)) continue;
    if (found[2].matched) {
      line.Value(found[1], &unused_text, found[2], "").File();
    } else {
      line.Flag(found[1], &unused_flag, "");
    }
  }
  return line;
}

class Completion : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About("print a completion script for your shell");
    Option& shell = line.Argument("SHELL", &shell_, "bash, zsh or fish");
    shell.choices = {"bash", "zsh", "fish"};
    line.AddExample("bash, for this session", "source <(resmem completion bash)");
    line.AddExample("zsh, into a folder of $fpath",
                    "resmem completion zsh > ~/.zsh/functions/_resmem");
    line.AddExample("fish, permanently",
                    "resmem completion fish > ~/.config/fish/completions/resmem.fish");
  }

  Result<ExitCode> Run(Console&) override {
    std::vector<Declared> declared;
    std::vector<const CommandLine*> lines;
    for (const CommandEntry& entry : Commands()) declared.push_back(cli::Declare(entry));
    for (const Declared& each : declared) lines.push_back(&each.line);
    std::deque<CommandLine> others;
    for (const SiblingCommand& sibling : SiblingCommands()) {
      const std::string program = FindSibling(sibling.program);
      if (program.empty()) continue;
      others.push_back(ReadSiblingLine(sibling, program));
      lines.push_back(&others.back());
    }
    // Families in a row: the scripts want the names of one together.
    std::stable_sort(lines.begin(), lines.end(), [](const CommandLine* a, const CommandLine* b) {
      return a->command() < b->command();
    });
    const std::string script = CompletionScript(shell_, lines);
    if (script.empty()) {
      return Status(ErrorCode::kInvalidArgument,
                    "'" + shell_ + "' is not a known shell; choose one of: bash, zsh, fish");
    }
    RESMEM_RETURN_IF_ERROR(PrintResult(script));
    return ExitCode::kOk;
  }

 private:
  std::string shell_;
};

}  // namespace

std::unique_ptr<Command> MakeCompletion() {
  return std::make_unique<Completion>();
}

}  // namespace resmem::cli
