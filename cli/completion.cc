// resmem completion: a script for the shell, written from what the commands declare.
#include "command.h"
#include "console/completion_scripts.h"
#include "console/output.h"

namespace resmem::cli {
namespace {

class Completion : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About("print a completion script for your shell");
    Option& shell = line.Argument("SHELL", &shell_, "bash, zsh or fish");
    shell.choices = {"bash", "zsh", "fish"};
    line.AddExample("bash, for this session", "source <(resmem completion bash)");
    line.AddExample("zsh, into a folder of $fpath",
                    "resmem completion zsh > ~/.zsh/functions/_resmem");
    line.AddExample("fish, for good",
                    "resmem completion fish > ~/.config/fish/completions/resmem.fish");
  }

  Result<ExitCode> Run(Console&) override {
    std::vector<Declared> declared;
    std::vector<const CommandLine*> lines;
    for (const CommandEntry& entry : Commands()) declared.push_back(cli::Declare(entry));
    for (const Declared& each : declared) lines.push_back(&each.line);
    const std::string script = CompletionScript(shell_, lines);
    if (script.empty()) {
      return Status(ErrorCode::kInvalidArgument,
                    "'" + shell_ + "' is not a shell we know; choose of: bash, zsh, fish");
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
