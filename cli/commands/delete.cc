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
        "remove rows from a memory by id",
        "The rows no longer affect answers once the memory is opened again; 'resmem "
        "compact' removes their bytes from disk. If any id is unknown, nothing is deleted. Rows "
        "live on in snapshots that were taken before: a warning names them.");
    DeclareMemory(line, &memory_path_);
    line.Group("Rows (one of the two)");
    line.Value("--ids", &ids_, "LIST", "ids: 3,5,9");
    line.Value("--ids-file", &ids_file_, "FILE", "text file with one id per line").File();
    line.Group("Change");
    DeclareWait(line, &options_.wait_seconds);
    output_.Declare(line);
    line.AddExample("two rows, including their bytes on disk",
                    "resmem delete my.resmem --ids 3,5 && resmem compact my.resmem");
  }

  Result<ExitCode> Run(Console& console) override {
    AnnounceChange("the rows were deleted");
    if (ids_.empty() == ids_file_.empty()) {
      return Status(ErrorCode::kInvalidArgument, "give either --ids LIST or --ids-file FILE");
    }
    if (!ids_file_.empty()) RESMEM_RETURN_IF_ERROR(ReadIdsFile());
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

  std::string memory_path_, ids_file_;
  std::vector<uint64_t> ids_;
  ChangeOptions options_;
  MemoryOutput output_;
};

}  // namespace

std::unique_ptr<Command> MakeDelete() {
  return std::make_unique<Delete>();
}

}  // namespace resmem::cli
