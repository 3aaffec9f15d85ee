// resmem compact: a memory as one segment, without the bytes of deleted rows.
#include "console/command.h"
#include "console/format.h"
#include "console/output.h"
#include "inputs/memory_options.h"
#include "outputs/memory_output.h"
#include "outputs/memory_text.h"
#include "outputs/snapshot_text.h"
#include "process/last_words.h"

namespace resmem::cli {
namespace {

// A broken one is rebuilt.
constexpr OpenOptions kWithoutIndex{.verify_blocks = false, .exact = true};

// Of rows whose bytes compaction erases.
std::vector<uint64_t> DeletedIds(const ResidualMemory& memory) {
  std::vector<uint64_t> ids;
  if (memory.rows() == memory.capacity()) return ids;
  for (int64_t row = 0; row < memory.capacity(); ++row) {
    if (memory.deleted(row) && !memory.FindId(memory.id(row))) ids.push_back(memory.id(row));
  }
  return ids;
}

class Compact : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About("rewrite a memory as one segment without deleted rows",
               "The compacted memory answers bit for bit like one made without the deleted rows. "
               "Needs disk space for a second copy while it runs. The index is rebuilt; if a key "
               "is too far away to be indexed, search becomes exact and a warning says so.");
    DeclareMemory(line, &memory_path_);
    line.Group("Options");
    line.Flag("--freeze", &freeze_,
              "replace logits by residuals at the memory's T: faster predictions, but T can no "
              "longer change");
    DeclareWait(line, &wait_seconds_);
    output_.Declare(line);
    line.AddExample("before deployment", "resmem compact my.resmem --freeze");
  }

  Result<ExitCode> Run(Console& console) override {
    AnnounceChange("the memory was compacted");
    int64_t before = 0;
    std::vector<uint64_t> erased;
    {  // the old files may go only when this process no longer maps them
      RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory,
                              ResidualMemory::Open(memory_path_, kWithoutIndex));
      before = memory.bytes_on_disk();
      erased = DeletedIds(memory);
    }
    RESMEM_RETURN_IF_ERROR(CompactMemory(
        memory_path_,
        {.freeze = freeze_, .progress = console.progress(), .wait_seconds = wait_seconds_}));
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory,
                            ResidualMemory::Open(memory_path_, {.verify_blocks = false}));
    if (!erased.empty()) {
      output_.TellRowsInSnapshots(WarnOfRowsInSnapshots(memory_path_, erased, console));
    }
    RESMEM_RETURN_IF_ERROR(output_.Print(memory_path_, memory, {},
                                         memory_path_ + ": " + Counted(memory.rows(), "row") +
                                             ", " + Bytes(before) + " before, " +
                                             Bytes(memory.bytes_on_disk()) + " after\n",
                                         console));
    WarnOfObstacle(memory_path_, memory, console);
    return ExitCode::kOk;
  }

 private:
  std::string memory_path_;
  bool freeze_ = false;
  double wait_seconds_ = 0;
  MemoryOutput output_;
};

}  // namespace

std::unique_ptr<Command> MakeCompact() {
  return std::make_unique<Compact>();
}

}  // namespace resmem::cli
