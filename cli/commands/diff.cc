// resmem diff: what became of a memory since a snapshot, or between two.
#include <filesystem>

#include "console/command.h"
#include "console/output.h"
#include "inputs/memory_options.h"
#include "outputs/snapshot_text.h"
#include "resmem/report/report.h"
#include "resmem/snapshots.h"

namespace resmem::cli {
namespace {

class Diff : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About(
        "tell what changed in a memory since a snapshot",
        "Rows that were added and removed, by id and class, rows that have another label, "
        "target, source or key under the same id, and parameters that differ. With a second "
        "name, between two snapshots. A name may also be the folder of another memory. Exits "
        "with 0 whether or not there is a difference.");
    DeclareMemory(line, &memory_path_);
    line.Argument("BEFORE", &before_, "a snapshot of it, or a folder");
    Option& after =
        line.Argument("AFTER", &after_, "the same; without it, the memory as it is now");
    after.required = false;
    line.Group("Output");
    line.Flag("--json", &json_, "print one JSON document instead of text (docs/json.md)");
    line.AddExample("since Monday", "resmem diff my.resmem monday");
    line.AddExample("from Monday to Tuesday", "resmem diff my.resmem monday tuesday");
    line.AddExample("against a copy", "resmem diff my.resmem ../backup/my.resmem");
  }

  Result<ExitCode> Run(Console& console) override {
    const std::string after_path = after_.empty() ? memory_path_ : PathOf(after_);
    const OpenOptions fast{.verify_blocks = false, .exact = true};
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory before,
                            ResidualMemory::Open(PathOf(before_), fast));
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory after, ResidualMemory::Open(after_path, fast));
    RESMEM_ASSIGN_OR_RETURN(const MemoryDifference difference, CompareMemories(before, after));
    if (!json_) {
      RESMEM_RETURN_IF_ERROR(
          PrintResult(DifferenceText(difference, after.description().class_names)));
      return ExitCode::kOk;
    }
    RESMEM_ASSIGN_OR_RETURN(const RunInfo run, DescribeThisRun(console, {}));
    RESMEM_RETURN_IF_ERROR(PrintResult(
        DifferenceJson(PathOf(before_), after_path, difference, FinishedRun(run, console)) + "\n"));
    return ExitCode::kOk;
  }

 private:
  // A snapshot's name comes first: "./monday" is a folder of that name.
  std::string PathOf(const std::string& name) const {
    const std::string snapshot = SnapshotPath(memory_path_, name);
    const bool folder = name.find('/') != std::string::npos ||
                        (!std::filesystem::exists(snapshot) && std::filesystem::exists(name));
    return folder ? name : snapshot;
  }

  std::string memory_path_, before_, after_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeDiff() {
  return std::make_unique<Diff>();
}

}  // namespace resmem::cli
