// resmem version: which program this is.
#include "resmem/version.h"
#include "console/command.h"
#include "console/output.h"

namespace resmem::cli {
namespace {

class VersionCommand : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About("print the version");
    line.AddExample("for a bug report", "resmem version");
  }

  Result<ExitCode> Run(Console&) override {
    RESMEM_RETURN_IF_ERROR(PrintResult("resmem " + Version() + "\n" + BuildDescription() + "\n"));
    return ExitCode::kOk;
  }
};

}  // namespace

std::unique_ptr<Command> MakeVersion() {
  return std::make_unique<VersionCommand>();
}

}  // namespace resmem::cli
