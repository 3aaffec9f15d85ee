// resmem rollback: a memory as it was when a snapshot was taken.
#include "console/command.h"
#include "console/format.h"
#include "console/output.h"
#include "inputs/memory_options.h"
#include "outputs/memory_output.h"
#include "outputs/snapshot_text.h"
#include "process/last_words.h"
#include "resmem/snapshots.h"

namespace resmem::cli {
namespace {

constexpr OpenOptions kToLookAt{.verify_blocks = false, .exact = true};

class Rollback : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About("make a memory what it was when a snapshot was taken",
               "Rows, parameters, index and notes become the snapshot's; the snapshot stays. Rows "
               "that were appended since are gone, rows that were deleted since are back: both are "
               "counted. Every checksum of the snapshot is compared first. --save keeps what the "
               "memory is now as another snapshot, so that nothing is lost.");
    DeclareMemory(line, &memory_path_);
    line.Argument("NAME", &name_, "as 'resmem snapshot list' tells").kind = ValueKind::kText;
    line.Group("Options");
    line.Value("--save", &save_, "NAME", "first take this snapshot of the memory as it is now");
    DeclareWait(line, &options_.wait_seconds);
    output_.Declare(line);
    line.AddExample("a change that was a mistake", "resmem rollback my.resmem monday");
    line.AddExample("to try what it was", "resmem rollback my.resmem monday --save now");
  }

  Result<ExitCode> Run(Console& console) override {
    static constexpr char kDone[] = "the memory was rolled back";
    AnnounceChange(kDone);
    options_.progress = console.progress();
    RESMEM_ASSIGN_OR_RETURN(const std::string words, Foresee());
    if (!save_.empty()) {
      static constexpr char kSaved[] =
          "the snapshot of --save is taken, the memory was not rolled back";
      AnnounceChange(kSaved);
      RESMEM_RETURN_IF_ERROR(Save(console));
      AnnounceChange(kDone, kSaved);
    }
    RESMEM_RETURN_IF_ERROR(RollBack(memory_path_, name_, options_));
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory,
                            ResidualMemory::Open(memory_path_, {.verify_blocks = false}));
    RESMEM_RETURN_IF_ERROR(output_.Print(memory_path_, memory, {},
                                         memory_path_ + ": as it was at " + name_ + ", " +
                                             Counted(memory.rows(), "row") + words + "\n",
                                         console));
    return ExitCode::kOk;
  }

 private:
  // Takes the snapshot, unless a run that was stopped before the rollback has taken it.
  Status Save(Console& console) const {
    SnapshotOptions saving;
    saving.note = "before the rollback to " + name_;
    saving.change = options_;
    Status taken = TakeSnapshot(memory_path_, save_, saving);
    if (taken.code() != ErrorCode::kInvalidArgument) return taken;
    const auto then = ResidualMemory::Open(SnapshotPath(memory_path_, save_), kToLookAt);
    if (!then.ok()) return taken;
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory now,
                            ResidualMemory::Open(memory_path_, kToLookAt));
    const auto difference = CompareMemories(now, *then);
    if (!difference.ok() || !difference->none()) return taken;
    console.Note("the snapshot " + save_ + " holds what the memory is now already");
    return {};
  }

  // What the change does to rows.  Both are closed before it is made.
  Result<std::string> Foresee() const {
    const auto unknown = [](const Status& status) {
      return "; what it was cannot be compared: " + status.message();
    };
    const auto now = ResidualMemory::Open(memory_path_, kToLookAt);
    // A damaged memory is one that needs the way back.
    if (now.status().code() == ErrorCode::kCorrupt) return unknown(now.status());
    if (!now.ok()) return now.status();
    const auto then = ResidualMemory::Open(SnapshotPath(memory_path_, name_), kToLookAt);
    if (!then.ok()) return std::string();  // RollBack() says what is wrong
    const auto difference = CompareMemories(*now, *then);
    if (difference.status().code() == ErrorCode::kMismatch) {
      return std::string("; it was another memory since");
    }
    if (!difference.ok()) return unknown(difference.status());
    std::string words;
    if (!difference->removed.empty()) {
      words += "; gone: " + IdsText(difference->removed);
    }
    if (!difference->added.empty()) words += "; back: " + IdsText(difference->added);
    return words;
  }

  std::string memory_path_, name_, save_;
  ChangeOptions options_;
  MemoryOutput output_;
};

}  // namespace

std::unique_ptr<Command> MakeRollback() {
  return std::make_unique<Rollback>();
}

}  // namespace resmem::cli
