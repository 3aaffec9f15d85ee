// resmem snapshot take: the memory as it is now, under a name.
#include "console/command.h"
#include "console/format.h"
#include "inputs/memory_options.h"
#include "outputs/memory_output.h"
#include "process/last_words.h"
#include "resmem/snapshots.h"

namespace resmem::cli {
namespace {

class SnapshotTake : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About(
        "keep the memory as it is now, under a name",
        "The snapshot is the folder MEMORY/snapshots/NAME. It is a memory itself: predict, eval "
        "and "
        "all other commands that only read take it. 'resmem rollback' brings it back, 'resmem "
        "diff' "
        "tells what changed since. It shares its files with the memory (hard links), so that it "
        "costs next to nothing until the memory is compacted. It is no backup: copy the folder for "
        "that. Rows that are deleted later live on in it (docs/versions.md).");
    DeclareMemory(line, &memory_path_);
    line.Argument("NAME", &name_, "letters, digits and . _ -").kind = ValueKind::kText;
    line.Group("Options");
    line.Value("--note", &options_.note, "TEXT", "why it was taken, for 'resmem snapshot list'");
    DeclareWait(line, &options_.change.wait_seconds);
    output_.Declare(line);
    line.AddExample("before a clean-up",
                    "resmem snapshot take my.resmem monday --note \"before the audit\"");
    line.AddExample("what it would have answered",
                    "resmem predict my.resmem/snapshots/monday --data new.npz -o old.csv");
  }

  Result<ExitCode> Run(Console& console) override {
    AnnounceChange("the snapshot was taken");
    options_.change.progress = console.progress();
    RESMEM_RETURN_IF_ERROR(TakeSnapshot(memory_path_, name_, options_));
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory,
                            ResidualMemory::Open(memory_path_, {.verify_blocks = false}));
    RESMEM_RETURN_IF_ERROR(output_.Print(
        memory_path_, memory, {},
        SnapshotPath(memory_path_, name_) + ": " + Counted(memory.rows(), "row") + "\n", console));
    return ExitCode::kOk;
  }

 private:
  std::string memory_path_, name_;
  SnapshotOptions options_;
  MemoryOutput output_;
};

}  // namespace

std::unique_ptr<Command> MakeSnapshotTake() {
  return std::make_unique<SnapshotTake>();
}

}  // namespace resmem::cli
