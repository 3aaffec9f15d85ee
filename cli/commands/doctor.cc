// resmem doctor: is the memory in order, and does it help?
#include "console/command.h"
#include "console/format.h"
#include "console/output.h"
#include "inputs/dataset_options.h"
#include "inputs/images/model_options.h"
#include "inputs/memory_options.h"
#include "inputs/selected_rows.h"
#include "outputs/memory_text.h"
#include "resmem/diagnosis.h"
#include "resmem/report/report.h"

namespace resmem::cli {
namespace {

bool HasInterval(const IndexCheck& check) {
  return check.queries >= IndexCheck::kFewestForError;
}

std::string RecallText(const IndexCheck& check) {
  return Fixed(check.recall, 4) +
         (HasInterval(check) ? " (+- " + Fixed(2 * check.standard_error, 4) + ")" : "") +
         " of the " + Count(check.k) + " nearest, over " + Counted(check.queries, "row");
}

std::string SpreadText(const IndexCheck& check) {
  return "19 of 20 rows found " + Fixed(check.low, 4) + " or more, the worst " +
         Fixed(check.least, 4);
}

class Doctor : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About(
        "check that a memory is in order and helps",
        "Searches for the neighbors of some of the memory's rows with the index and exactly, and "
        "reports the recall and the accuracy lost. Also measures the recall on rows that you give. "
        "If those have logits and labels, compares the base with base + memory on them; otherwise "
        "on the memory's own rows, leaving each one out.\nExits with 5 if base + memory is worse "
        "than the base on the compared rows by any amount, in accuracy or in NLL, as eval "
        "--fail-if-worse does; the verdict says whether that many rows "
        "prove it. Rows that the base was trained on give no verdict and never exit with 5. Those "
        "are: rows of which any is marked train, rows that are mostly in the memory, and the "
        "memory's own rows unless its logits are out-of-fold.");
    DeclareMemory(line, &memory_path_);
    data_.Declare(line, DatasetUse::kDiagnose);
    roles_.Declare(line, Role::kTest);
    line.Group("Diagnosis");
    line.Value("--sample", &options_.sample, "ROWS",
               "how many of the memory's rows to check, and how many of yours to measure the "
               "recall on; accuracy uses all of yours. Below 30 the recall has no interval");
    model_.Declare(line, /*check=*/true);
    line.Group("Output");
    line.Flag("--json", &json_, "print one JSON document instead of text (docs/json.md)");
    DeclareThreads(line, &options_.threads);
    line.AddExample("after indexing", "resmem doctor my.resmem --data test.npz");
    line.AddExample("as a deployment gate",
                    "resmem doctor my.resmem --data test.npz --quiet || exit 1");
  }

  Result<ExitCode> Run(Console& console) override {
    if (options_.sample < 1) {
      return Status(ErrorCode::kInvalidArgument,
                    "--sample " + Count(options_.sample) + ": give 1 or more rows");
    }
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory, ResidualMemory::Open(memory_path_));
    const ResidualMemory exact = memory.Exact();  // of one state, whatever others do meanwhile
    std::optional<Input> input;
    std::optional<RowSource> rows;
    if (data_.given()) {
      RESMEM_ASSIGN_OR_RETURN(
          input, model_.OpenInput(data_, memory_path_, memory, options_.threads, console));
      RESMEM_ASSIGN_OR_RETURN(options_.only, roles_.Choose(input->dataset, console));
      rows = ReadDataset(input->dataset);
      options_.unlabeled = !input->dataset.has_labels() || !input->dataset.has_logits();
      if (options_.unlabeled && !memory.index_info().has_value()) {
        return Status(ErrorCode::kBadData,
                      "the rows given have no logits or no labels, and " + memory_path_ +
                          " has no index whose recall could be measured; give both (--logits, "
                          "--labels or --targets)");
      }
    }
    options_.progress = console.progress();
    RESMEM_ASSIGN_OR_RETURN(const Diagnosis diagnosis,
                            Diagnose(memory, exact, rows ? &*rows : nullptr, options_));
    if (json_) {
      RESMEM_ASSIGN_OR_RETURN(RunInfo run, DescribeThisRun(console, data_.Paths()));
      run.memory = DescribeMemory(memory_path_, memory);
      RESMEM_RETURN_IF_ERROR(
          PrintResult(DiagnosisJson(diagnosis, FinishedRun(std::move(run), console)) + "\n"));
    } else {
      RESMEM_RETURN_IF_ERROR(PrintResult(Text(memory, diagnosis)));
    }
    if (!diagnosis.worse) return ExitCode::kOk;
    console.Error("check failed: " + diagnosis.verdict);
    return ExitCode::kCheckFailed;
  }

 private:
  std::string Text(const ResidualMemory& memory, const Diagnosis& diagnosis) const {
    Table table = Table::Facts();
    table.AddRow({"memory", memory_path_});
    table.AddRow({"rows", Count(memory.rows())});
    table.AddRow({"search", SearchText(memory)});
    if (diagnosis.index.has_value()) {
      const IndexCheck& check = *diagnosis.index;
      const double queries = static_cast<double>(check.queries);
      table.AddRow(
          {"recall", RecallText(check) + " of the memory; asked " + ShortNumber(check.asked)});
      if (HasInterval(check)) table.AddRow({"", SpreadText(check)});
      if (diagnosis.index_on_given.has_value()) {
        table.AddRow({"recall on given", RecallText(*diagnosis.index_on_given) + " given"});
        if (HasInterval(*diagnosis.index_on_given)) {
          table.AddRow({"", SpreadText(*diagnosis.index_on_given)});
        }
      }
      table.AddRow({"time a query", Fixed(1e6 * check.index_seconds / queries, 1) + " us, exact " +
                                        Fixed(1e6 * check.exact_seconds / queries, 1) + " us"});
    }
    if (diagnosis.evaluation.has_value()) {
      const Evaluation& evaluation = *diagnosis.evaluation;
      table.AddRow({"compared on",
                    Counted(evaluation.rows, "row") +
                        (evaluation.leave_one_out ? " of the memory, leaving each one out" : "")});
      if (evaluation.regression.has_value()) {
        table.AddRow({"base", "mse " + ShortNumber(evaluation.regression->base_mse)});
        table.AddRow({"with memory", "mse " + ShortNumber(evaluation.regression->resmem_mse)});
      } else {
        table.AddRow({"base", Percent(evaluation.methods.front().accuracy.value)});
        table.AddRow({"with memory", Percent(evaluation.methods.back().accuracy.value)});
      }
      if (diagnosis.exact_evaluation.has_value()) {
        table.AddRow({"lost by index", evaluation.regression.has_value()
                                           ? "mse " + ShortNumber(diagnosis.lost)
                                           : Fixed(100 * diagnosis.lost, 2) + " points"});
      }
    }
    table.AddRow({"verdict", diagnosis.verdict + (diagnosis.worse ? "; exit 5" : "")});
    std::string text = table.Text();
    for (const std::string& advice : diagnosis.advice) text += "\n- " + advice + "\n";
    if (diagnosis.advice.empty()) text += "\nno problems found\n";
    return text;
  }

  std::string memory_path_;
  DatasetOptions data_;
  RoleOptions roles_;
  ModelOptions model_;
  DiagnosisOptions options_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeDoctor() {
  return std::make_unique<Doctor>();
}

}  // namespace resmem::cli
