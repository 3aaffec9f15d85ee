// resmem verify: reads every byte of a memory and compares all checksums.
#include "console/command.h"
#include "console/format.h"
#include "console/output.h"
#include "inputs/memory_options.h"
#include "outputs/memory_output.h"
#include "resmem/models/bundle.h"

namespace resmem::cli {
namespace {

class Verify : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About("read every byte of a memory and compare its checksums",
               "Its snapshots, too. Exits with 3 and names the place if a byte is not what was "
               "written.");
    DeclareMemory(line, &memory_path_);
    output_.Declare(line);
    line.AddExample("after a copy", "resmem verify my.resmem");
  }

  Result<ExitCode> Run(Console& console) override {
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory,
                            ResidualMemory::Open(memory_path_, {.verify_blocks = false}));
    RESMEM_RETURN_IF_ERROR(memory.Verify(console.progress()));
    const MemoryDescription& description = memory.description();
    RESMEM_RETURN_IF_ERROR(VerifyBundle(memory_path_, description.notes, description.fingerprint));
    RESMEM_ASSIGN_OR_RETURN(const std::string snapshots, VerifySnapshots(memory, console));
    RESMEM_RETURN_IF_ERROR(output_.Print(memory_path_, memory, {},
                                         memory_path_ + ": sound; " +
                                             Counted(memory.rows(), "row") + ", " +
                                             Bytes(memory.bytes_on_disk()) + snapshots + "\n",
                                         console));
    return ExitCode::kOk;
  }

 private:
  // Words about them; the memory's own files were sound.
  Result<std::string> VerifySnapshots(const ResidualMemory& memory, Console& console) const {
    RESMEM_ASSIGN_OR_RETURN(const SnapshotList list, ListSnapshots(memory_path_, memory));
    for (const SnapshotInfo& info : list.snapshots) {
      if (!info.problem.empty()) return Status(ErrorCode::kCorrupt, info.problem);
      RESMEM_ASSIGN_OR_RETURN(
          const ResidualMemory snapshot,
          ResidualMemory::Open(SnapshotPath(memory_path_, info.name), {.verify_blocks = false}));
      RESMEM_RETURN_IF_ERROR(snapshot.Verify(console.progress()));
    }
    if (list.snapshots.empty()) return std::string();
    return "; " + Counted(static_cast<int64_t>(list.snapshots.size()), "snapshot") + ", sound";
  }

  std::string memory_path_;
  MemoryOutput output_;
};

}  // namespace

std::unique_ptr<Command> MakeVerify() {
  return std::make_unique<Verify>();
}

}  // namespace resmem::cli
