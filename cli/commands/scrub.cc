// resmem scrub: looks for decay of the disk while other programs use the memory.
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "console/command.h"
#include "console/format.h"
#include "console/output.h"
#include "inputs/memory_options.h"
#include "resmem/models/bundle.h"
#include "resmem/report/report.h"
#include "resmem/scrub.h"
#include "resmem/snapshots.h"

namespace resmem::cli {
namespace {

// Others come first, at the processor and at the disk.  Where the system refuses, it is only less
// polite.
void StepBack() {
  constexpr int kOfProcess = 1, kIdleClass = 3, kClassShift = 13, kNicest = 19;
  (void)setpriority(PRIO_PROCESS, 0, kNicest);
  (void)syscall(SYS_ioprio_set, kOfProcess, 0, kIdleClass << kClassShift);
}

class Scrub : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About(
        "look for decay of the disk, slowly, while the memory is in use",
        "Reads every block of every file, those of snapshots too, and compares its checksum, as "
        "'resmem verify' does, but "
        "for a machine with other work: on one thread, at the lowest priority, at most --rate MB a "
        "second, from the disk itself and not from the page cache where the file system can, and "
        "to the end, so that all damage is listed. verify is as fast as it can be, stops at the "
        "first mistake, and also checks what a right checksum does not make right. Exits with 3 "
        "where anything is damaged. Made for cron or a timer.");
    DeclareMemory(line, &memory_path_);
    line.Value("--rate", &rate_, "MB", "read a second, at most; 0: no limit");
    line.Group("Output");
    line.Flag("--json", &json_, "one JSON document on stdout (docs/json.md)");
    line.AddExample("every week, by cron", "resmem scrub my.resmem --rate 20 --json > scrub.json");
  }

  Result<ExitCode> Run(Console& console) override {
    if (!(rate_ >= 0 && rate_ <= kMostRate)) {
      return Status(ErrorCode::kInvalidArgument,
                    "--rate " + ShortNumber(rate_) + ": allowed are 0 to 1,000,000 MB");
    }
    StepBack();
    ScrubOptions options;
    options.bytes_per_second = static_cast<int64_t>(rate_ * 1e6);
    options.progress = console.progress();
    RESMEM_ASSIGN_OR_RETURN(ScrubReport report, ScrubMemory(memory_path_, options));
    RESMEM_RETURN_IF_ERROR(AddBundle(&report));
    RESMEM_RETURN_IF_ERROR(ScrubSnapshots(options, &report));
    if (json_) {
      RESMEM_ASSIGN_OR_RETURN(RunInfo run, DescribeThisRun(console, {}));
      RESMEM_RETURN_IF_ERROR(
          PrintResult(ScrubJson(memory_path_, report, FinishedRun(run, console)) + "\n"));
    }
    for (const std::string& damage : report.damage) console.Error(damage);
    const std::string read = Counted(report.blocks, "block") + " of " +
                             Counted(report.files, "file") + ", " + Bytes(report.bytes) +
                             (report.past_cache ? " read from the disk" : " read");
    if (!report.sound()) {
      return Status(ErrorCode::kCorrupt,
                    memory_path_ + ": " + Counted(report.broken, "damaged place") + "; " + read +
                        "; restore the memory from a copy, or make it again from its data");
    }
    if (!json_) {
      RESMEM_RETURN_IF_ERROR(PrintResult(memory_path_ + ": sound; " + read + "\n"));
      if (!report.past_cache) {
        console.Note(
            "this file system does not read past its cache: pages that other programs hold in "
            "memory were not read from the disk again");
      }
    }
    return ExitCode::kOk;
  }

 private:
  // Files that a snapshot shares with the memory are read again: where the folder was copied
  // without its links they are not the same.
  Status ScrubSnapshots(const ScrubOptions& options, ScrubReport* report) const {
    RESMEM_ASSIGN_OR_RETURN(const SnapshotList list, ListSnapshots(memory_path_));
    for (const SnapshotInfo& info : list.snapshots) {
      if (!info.problem.empty()) {
        ++report->broken;
        report->damage.push_back(info.problem);
        continue;
      }
      RESMEM_ASSIGN_OR_RETURN(ScrubReport more,
                              ScrubMemory(SnapshotPath(memory_path_, info.name), options));
      report->files += more.files;
      report->blocks += more.blocks;
      report->bytes += more.bytes;
      report->broken += more.broken;
      report->past_cache &= more.past_cache;
      for (std::string& damage : more.damage) report->damage.push_back(std::move(damage));
    }
    if (report->damage.size() > ScrubReport::kMostDamage) {
      report->damage.resize(ScrubReport::kMostDamage);
    }
    return {};
  }

  // The model that the memory carries is no part of its format.
  Status AddBundle(ScrubReport* report) const {
    const MemoryDescription& description = report->description;
    if (!CarriesModel(description.notes)) return {};
    report->files += 2;  // model and manifest
    const Status status = VerifyBundle(memory_path_, description.notes, description.fingerprint);
    if (status.code() != ErrorCode::kCorrupt) return status;
    ++report->broken;
    if (report->damage.size() < ScrubReport::kMostDamage) {
      report->damage.push_back(status.message());
    }
    return {};
  }

  static constexpr double kMostRate = 1e6;
  std::string memory_path_;
  double rate_ = 100;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeScrub() {
  return std::make_unique<Scrub>();
}

}  // namespace resmem::cli
