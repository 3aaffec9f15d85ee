// resmem intervals: how far a regression's predictions may be off, from held-out rows.
#include "resmem/intervals.h"
#include "console/command.h"
#include "console/format.h"
#include "inputs/dataset_options.h"
#include "inputs/images/model_options.h"
#include "inputs/memory_options.h"
#include "inputs/selected_rows.h"
#include "outputs/memory_output.h"
#include "process/last_words.h"

namespace resmem::cli {
namespace {

class Intervals : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About("fit intervals for a regression's predictions on held-out rows",
               "Makes 'resmem predict --interval 0.9' possible: intervals that hold the true value "
               "with the probability asked for, wider where the memory's neighbors disagree. The "
               "rows must be new to the base, to the memory and, for the guarantee, to 'resmem "
               "tune'. Fit them after tuning: another answer needs other intervals. 'resmem eval' "
               "tells how often they hold (docs/regression.md).");
    DeclareMemory(line, &memory_path_);
    data_.Declare(line, DatasetUse::kTune);
    roles_.Declare(line, Role::kValidation);
    model_.Declare(line, /*check=*/true);
    line.Group("Change");
    DeclareWait(line, &change_.wait_seconds);
    DeclareThreads(line, &threads_);
    output_.Declare(line);
    line.AddExample("on rows that were held out for this",
                    "resmem intervals my.resmem --data calibration.npz");
  }

  Result<ExitCode> Run(Console& console) override {
    AnnounceChange("the intervals were stored");
    MemoryDescription description;
    IntervalFit fit;
    {  // the memory must not stay open while it is written
      RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory, ResidualMemory::Open(memory_path_));
      RESMEM_ASSIGN_OR_RETURN(const Input input,
                              model_.OpenInput(data_, memory_path_, memory, threads_, console));
      RESMEM_ASSIGN_OR_RETURN(const std::optional<Role> role,
                              roles_.Choose(input.dataset, console));
      RESMEM_ASSIGN_OR_RETURN(const RowSource rows, SelectRows(input.dataset, role));
      const Predictor predictor(memory);
      RESMEM_ASSIGN_OR_RETURN(fit, FitIntervals(predictor, rows, threads_));
      description = memory.description();
    }
    description.notes[kIntervalsNote] = IntervalFitText(fit);
    change_.progress = console.progress();
    RESMEM_RETURN_IF_ERROR(UpdateDescription(memory_path_, description, change_));
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory,
                            ResidualMemory::Open(memory_path_, {.verify_blocks = false}));
    RESMEM_RETURN_IF_ERROR(output_.Print(
        memory_path_, memory, data_.Paths(),
        memory_path_ + ": intervals from " + Counted(fit.rows, "held-out row") + "\n", console));
    return ExitCode::kOk;
  }

 private:
  std::string memory_path_;
  DatasetOptions data_;
  RoleOptions roles_;
  ModelOptions model_;
  ChangeOptions change_;
  int threads_ = 0;
  MemoryOutput output_;
};

}  // namespace

std::unique_ptr<Command> MakeIntervals() {
  return std::make_unique<Intervals>();
}

}  // namespace resmem::cli
