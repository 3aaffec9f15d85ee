// resmem cluster leave: takes a memory out of its stream of edits.
#include "console/command.h"
#include "console/format.h"
#include "console/output.h"
#include "inputs/memory_options.h"
#include "process/last_words.h"
#include "resmem_program/edit_stream.h"

namespace resmem::cli {
namespace {

class ClusterLeave : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About(
        "take a memory out of the stream of edits that it follows",
        "From then on it is changed as any other memory (append, delete, serve), and differs "
        "from the replicas that go on following. There is no way back: to follow again, copy "
        "another replica's folder. Rows and answers stay as they are.");
    DeclareMemory(line, &memory_path_);
    line.Group("Options");
    DeclareWait(line, &options_.wait_seconds);
    line.AddExample("a copy of a replica, to work with",
                    "cp -r talks.0f3a.resmem mine.resmem && resmem cluster leave mine.resmem");
  }

  Result<ExitCode> Run(Console& console) override {
    AnnounceChange("the memory has left the stream");
    options_.progress = console.progress();
    RESMEM_RETURN_IF_ERROR(LeaveStream(memory_path_, options_));
    RESMEM_RETURN_IF_ERROR(PrintResult(memory_path_ + ": follows no stream of edits any more\n"));
    return ExitCode::kOk;
  }

 private:
  std::string memory_path_;
  ChangeOptions options_;
};

}  // namespace

std::unique_ptr<Command> MakeClusterLeave() {
  return std::make_unique<ClusterLeave>();
}

}  // namespace resmem::cli
