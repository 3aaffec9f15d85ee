// resmem info: what a memory holds, and what this machine will use.
#include "console/command.h"
#include "console/format.h"
#include "console/output.h"
#include "inputs/memory_options.h"
#include "outputs/memory_output.h"
#include "outputs/memory_text.h"
#include "outputs/snapshot_text.h"
#include "resmem/knn_index.h"
#include "resmem_program/edit_stream.h"
#include "resmem_program/simd.h"

namespace resmem::cli {
namespace {

std::string SimdText() {
  std::string available;
  for (const std::string& name : SimdNamesAvailable()) {
    available += (available.empty() ? "" : ", ") + name;
  }
  return SimdName() + " (available: " + available + "; RESMEM_SIMD=NAME to force)";
}

class Info : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About(
        "show what a memory holds and how it was made",
        "Reads the manifest, ids, labels and residuals, but no keys; 'resmem verify' reads every "
        "byte.");
    DeclareMemory(line, &memory_path_);
    output_.Declare(line);
    line.AddExample("for people", "resmem info my.resmem");
  }

  Result<ExitCode> Run(Console& console) override {
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory,
                            ResidualMemory::Open(memory_path_, {.verify_blocks = false}));
    const MemoryDescription& description = memory.description();
    Table table = MemoryTable(memory_path_, memory);
    RESMEM_ASSIGN_OR_RETURN(const SnapshotList snapshots, ListSnapshots(memory_path_, memory));
    if (!snapshots.snapshots.empty()) table.AddRow({"snapshots", SnapshotsLine(snapshots)});
    const std::string owner = MemoryOfSnapshot(memory_path_);
    if (const auto at = PositionOf(memory)) {
      table.AddRow({"edits", "up to " + std::to_string(at->sequence) + " of the stream " +
                                 at->stream + ", shard " + std::to_string(at->shard) + " of " +
                                 std::to_string(at->shards)});
    }
    if (!owner.empty()) table.AddRow({"a snapshot of", owner + ", which nothing changes"});
    table.AddRow({"made by", "resmem " + description.tool_version + ", " + description.created});
    for (const auto& [name, value] : description.notes) {
      constexpr size_t kLongest = 80;  // the tuner's trace is for programs
      table.AddRow(
          {"note",
           name + ": " +
               (value.size() <= kLongest ? value : Bytes(static_cast<int64_t>(value.size())))});
    }
    table.AddRow({"simd", SimdText()});
    RESMEM_RETURN_IF_ERROR(output_.Print(memory_path_, memory, {}, table.Text(), console));
    return ExitCode::kOk;
  }

 private:
  std::string memory_path_;
  MemoryOutput output_;
};

}  // namespace

std::unique_ptr<Command> MakeInfo() {
  return std::make_unique<Info>();
}

}  // namespace resmem::cli
