// resmem delete: rows out of a memory, by id.
#include <algorithm>
#include <fstream>

#include "console/command.h"
#include "console/format.h"
#include "console/next_step.h"
#include "console/output.h"
#include "inputs/cannot_read.h"
#include "inputs/memory_options.h"
#include "outputs/memory_output.h"
#include "outputs/snapshot_text.h"
#include "process/last_words.h"

namespace resmem::cli {
namespace {

class Delete : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About(
        "remove rows from a memory by id or by their tags",
        "The rows no longer affect answers once the memory is opened again; 'resmem "
        "compact' removes their bytes from disk. If any id is unknown, nothing is deleted. Rows "
        "live on in snapshots that were taken before: a warning names them.");
    DeclareMemory(line, &memory_path_);
    line.Group("Rows (one of the three)");
    line.Value("--ids", &ids_, "LIST", "ids: 3,5,9");
    line.Value("--ids-file", &ids_file_, "FILE", "text file with one id per line").File();
    DeclareWhere(line, &where_,
                 "rows whose tags match: site=north, time<2026-01-01 (docs/filters.md)");
    line.Flag("--dry-run", &dry_run_, "say how many rows match, do not change the memory")
        .Needs({"--where"});
    line.Group("Change");
    DeclareWait(line, &options_.wait_seconds);
    output_.Declare(line);
    line.AddExample("two rows, including their bytes on disk",
                    "resmem delete my.resmem --ids 3,5 && resmem compact my.resmem");
    line.AddExample("what is older than this year",
                    "resmem delete my.resmem --where 'time<2026-01-01'");
  }

  Result<ExitCode> Run(Console& console) override {
    AnnounceChange("the rows were deleted");
    if (!ids_.empty() + !ids_file_.empty() + !where_.empty() != 1) {
      return Status(ErrorCode::kInvalidArgument,
                    "give one of --ids LIST, --ids-file FILE and --where CONDITIONS");
    }
    if (!ids_file_.empty()) RESMEM_RETURN_IF_ERROR(ReadIdsFile());
    if (!where_.empty()) RESMEM_RETURN_IF_ERROR(FindMatching());
    if (dry_run_) {
      RESMEM_RETURN_IF_ERROR(PrintResult(Counted(std::ssize(ids_), "row") + " of " + memory_path_ +
                                         " would be deleted\n"));
      return ExitCode::kOk;
    }
    std::sort(ids_.begin(), ids_.end());
    ids_.erase(std::unique(ids_.begin(), ids_.end()), ids_.end());
    options_.progress = console.progress();
    RESMEM_RETURN_IF_ERROR(DeleteRows(memory_path_, ids_, options_));
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory, OpenChanged(memory_path_, console));
    const std::string words = "deleted " + Counted(static_cast<int64_t>(ids_.size()), "row") +
                              "; " + memory_path_ + " holds " + Count(memory.rows()) + "\n";
    const std::vector<SnapshotRows> left = WarnOfRowsInSnapshots(memory_path_, ids_, console);
    output_.TellRowsInSnapshots(left);
    RESMEM_RETURN_IF_ERROR(output_.Print(memory_path_, memory, {}, words, console));
    console.Note("their bytes stay on disk until you run: " +
                 CommandText({"compact", memory_path_}));
    return ExitCode::kOk;
  }

 private:
  Status FindMatching() {
    RESMEM_ASSIGN_OR_RETURN(
        const ResidualMemory memory,
        ResidualMemory::Open(memory_path_, {.verify_blocks = false, .exact = true}));
    RESMEM_ASSIGN_OR_RETURN(const RowFilter filter, ParseWhere(where_, memory_path_, memory));
    ids_ = IdsWhere(memory, filter);
    if (!ids_.empty()) return {};
    return Status(ErrorCode::kNotFound,
                  memory_path_ + ": no row matches --where " + where_ + "; nothing was deleted");
  }
  Status ReadIdsFile() {
    std::ifstream file(ids_file_);
    if (!file) return CannotRead(ids_file_, "");
    int64_t number = 0;
    for (std::string text; std::getline(file, text);) {
      ++number;
      if (!text.empty() && text.back() == '\r') text.pop_back();
      if (text.empty()) continue;
      ids_.emplace_back();
      const Status status = ParseValue(text, &ids_.back());
      if (status.ok()) continue;
      return Status(ErrorCode::kBadData,
                    ids_file_ + ": line " + std::to_string(number) + ": " + status.message());
    }
    if (file.bad()) return Status(ErrorCode::kIo, ids_file_ + ": cannot be read to its end");
    if (!ids_.empty()) return {};
    return Status(ErrorCode::kBadData, ids_file_ + ": holds no id; give one per line");
  }

  std::string memory_path_, ids_file_, where_;
  bool dry_run_ = false;
  std::vector<uint64_t> ids_;
  ChangeOptions options_;
  MemoryOutput output_;
};

}  // namespace

std::unique_ptr<Command> MakeDelete() {
  return std::make_unique<Delete>();
}

}  // namespace resmem::cli
