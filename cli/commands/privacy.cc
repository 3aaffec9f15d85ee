// resmem privacy: what a memory's answers give away of its rows.
#include "resmem/privacy.h"

#include "console/command.h"
#include "console/format.h"
#include "console/output.h"
#include "inputs/dataset_options.h"
#include "inputs/images/model_options.h"
#include "inputs/memory_options.h"
#include "inputs/selected_rows.h"
#include "outputs/privacy_text.h"
#include "resmem/report/report.h"

namespace resmem::cli {
namespace {

class Privacy : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About(
        "measure what answers give away of a memory's rows",
        "Attacks the memory as somebody who asks it could. Membership: how well the answer's loss, "
        "its confidence, its gain over the base and the distance to the nearest row tell members "
        "from the held-out rows that you give, compared with the base alone. Extraction: how often "
        "a member's label is answered, and whether keys can be computed from the distances that "
        "neighbor lists show. Then what to do about it. Needs a memory that keeps logits. Held-out "
        "rows must be like the memory's, but not in it.\ndocs/privacy.md explains the figures.");
    DeclareMemory(line, &memory_path_);
    data_.Declare(line, DatasetUse::kJudge);
    roles_.Declare(line, Role::kTest);
    line.Group("Attacks");
    line.Value("--most", &options_.most, "ROWS", "members that are asked, chosen by the seed");
    line.Value("--near", &options_.most_near, "ROWS",
               "of them, how many are also asked with keys that are moved; 0: none");
    line.Value("--recover-keys", &options_.most_keys, "ROWS",
               "rows whose keys are computed from distances, with about twice as many queries as a "
               "key has values for each; 0: none");
    line.Value("--seed", &options_.seed, "N", "of members and directions");
    DeclareExact(line, &exact_);
    model_.Declare(line, /*check=*/true);
    line.Group("Output");
    line.Flag("--json", &json_, "print one JSON document instead of text (docs/json.md)");
    DeclareThreads(line, &options_.threads);
    line.AddExample("before others may ask it",
                    "resmem privacy my.resmem --keys test/keys.npy --logits test/logits.npy "
                    "--labels test/labels.npy");
  }

  Result<ExitCode> Run(Console& console) override {
    RESMEM_RETURN_IF_ERROR(CheckOptions());
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory,
                            ResidualMemory::Open(memory_path_, {.exact = exact_}));
    RESMEM_ASSIGN_OR_RETURN(const Input input, model_.OpenInput(data_, memory_path_, memory,
                                                                options_.threads, console));
    RESMEM_ASSIGN_OR_RETURN(const std::optional<Role> role, roles_.Choose(input.dataset, console));
    RESMEM_ASSIGN_OR_RETURN(const RowSource rows, SelectRows(input.dataset, role));
    options_.progress = console.progress();
    const Predictor predictor(memory);
    const Result<PrivacyReport> report = MeasurePrivacy(predictor, rows, options_);
    if (!report.ok()) {
      return Status(report.status().code(), memory_path_ + ": " + report.status().message());
    }
    if (!json_) {
      RESMEM_RETURN_IF_ERROR(PrintResult(PrivacyText(*report, memory.rows())));
      return ExitCode::kOk;
    }
    RESMEM_ASSIGN_OR_RETURN(RunInfo run, DescribeThisRun(console, data_.Paths()));
    run.memory = DescribeMemory(memory_path_, memory);
    RESMEM_RETURN_IF_ERROR(
        PrintResult(PrivacyJson(*report, FinishedRun(std::move(run), console)) + "\n"));
    return ExitCode::kOk;
  }

 private:
  Status CheckOptions() const {
    const auto refuse = [](const std::string& option, int64_t value, const char* least) {
      return Status(ErrorCode::kInvalidArgument,
                    option + " " + Count(value) + ": give " + least + " or more rows");
    };
    if (options_.most < 1) return refuse("--most", options_.most, "1");
    if (options_.most_near < 0) return refuse("--near", options_.most_near, "0");
    if (options_.most_keys < 0) return refuse("--recover-keys", options_.most_keys, "0");
    return {};
  }

  std::string memory_path_;
  DatasetOptions data_;
  RoleOptions roles_;
  ModelOptions model_;
  PrivacyOptions options_;
  bool exact_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakePrivacy() {
  return std::make_unique<Privacy>();
}

}  // namespace resmem::cli
