// resmem snapshot list: the states that a memory keeps.
#include "console/command.h"
#include "console/format.h"
#include "console/output.h"
#include "inputs/memory_options.h"
#include "outputs/memory_output.h"
#include "outputs/snapshot_text.h"

namespace resmem::cli {
namespace {

class SnapshotListCommand : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About("list the snapshots of a memory",
               "'only here' is what the disk would give back with it: files that the memory no "
               "longer names. With --ids, only snapshots that hold one of these rows, deleted from "
               "the memory or not. Exit code 3 if one cannot be read.");
    DeclareMemory(line, &memory_path_);
    line.Group("Options");
    line.Value("--ids", &ids_, "LIST", "ids: 3,5,9");
    output_.Declare(line);
    line.AddExample("all", "resmem snapshot list my.resmem");
    line.AddExample("which still hold a forgotten row", "resmem snapshot list my.resmem --ids 3");
  }

  Result<ExitCode> Run(Console& console) override {
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory,
                            ResidualMemory::Open(memory_path_, {.verify_blocks = false}));
    if (!ids_.empty()) return PrintHolders(memory, console);
    RESMEM_ASSIGN_OR_RETURN(const SnapshotList list, ListSnapshots(memory_path_, memory));
    const std::string words = list.snapshots.empty() ? memory_path_ + " has no snapshots\n"
                                                     : SnapshotsText(list) + Bytes(list.own_bytes) +
                                                           " on disk that only snapshots hold\n";
    RESMEM_RETURN_IF_ERROR(output_.Print(memory_path_, memory, {}, words, console));
    for (const SnapshotInfo& info : list.snapshots) {
      if (!info.problem.empty()) return Status(ErrorCode::kCorrupt, info.problem);
    }
    return ExitCode::kOk;
  }

 private:
  Result<ExitCode> PrintHolders(const ResidualMemory& memory, const Console& console) {
    RESMEM_ASSIGN_OR_RETURN(const std::vector<SnapshotRows> found,
                            FindInSnapshots(memory_path_, ids_));
    std::string words;
    for (const SnapshotRows& snapshot : found) {
      words += snapshot.name + ": " + IdsText(snapshot.ids) + "\n";
    }
    if (found.empty()) words = "no snapshot of " + memory_path_ + " holds any of these rows\n";
    output_.TellRowsInSnapshots(found);
    RESMEM_RETURN_IF_ERROR(output_.Print(memory_path_, memory, {}, words, console));
    return ExitCode::kOk;
  }

  std::string memory_path_;
  std::vector<uint64_t> ids_;
  MemoryOutput output_;
};

}  // namespace

std::unique_ptr<Command> MakeSnapshotList() {
  return std::make_unique<SnapshotListCommand>();
}

}  // namespace resmem::cli
