// resmem snapshot drop: a state that is no longer needed, or must not be kept.
#include "console/command.h"
#include "console/format.h"
#include "inputs/memory_options.h"
#include "outputs/memory_output.h"
#include "process/last_words.h"
#include "resmem/snapshots.h"

namespace resmem::cli {
namespace {

class SnapshotDrop : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About(
        "remove a snapshot of a memory",
        "Its bytes go with it, but for files that the memory or another snapshot shares. The "
        "memory itself does not change.");
    DeclareMemory(line, &memory_path_);
    line.Argument("NAME", &name_, "as 'resmem snapshot list' tells").kind = ValueKind::kText;
    line.Group("Options");
    DeclareWait(line, &options_.wait_seconds);
    output_.Declare(line);
    line.AddExample("it served", "resmem snapshot drop my.resmem monday");
  }

  Result<ExitCode> Run(Console& console) override {
    AnnounceChange("the snapshot was removed");
    options_.progress = console.progress();
    RESMEM_RETURN_IF_ERROR(DropSnapshot(memory_path_, name_, options_));
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory,
                            ResidualMemory::Open(memory_path_, {.verify_blocks = false}));
    RESMEM_ASSIGN_OR_RETURN(const SnapshotList left, ListSnapshots(memory_path_, memory));
    const auto count = static_cast<int64_t>(left.snapshots.size());
    RESMEM_RETURN_IF_ERROR(output_.Print(memory_path_, memory, {},
                                         "removed the snapshot " + name_ + "; " + memory_path_ +
                                             " has " + Counted(count, "snapshot") + "\n",
                                         console));
    return ExitCode::kOk;
  }

 private:
  std::string memory_path_, name_;
  ChangeOptions options_;
  MemoryOutput output_;
};

}  // namespace

std::unique_ptr<Command> MakeSnapshotDrop() {
  return std::make_unique<SnapshotDrop>();
}

}  // namespace resmem::cli
