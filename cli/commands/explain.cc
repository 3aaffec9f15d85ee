// resmem explain: one prediction as a sum that anybody can check.
#include "console/command.h"
#include "console/format.h"
#include "console/output.h"
#include "inputs/answer_options.h"
#include "inputs/class_names.h"
#include "inputs/dataset_options.h"
#include "inputs/images/model_options.h"
#include "inputs/memory_options.h"
#include "outputs/explanation_text.h"
#include "resmem/predictor.h"

namespace resmem::cli {
namespace {

class ExplainCommand : public Command {
 public:
  void Declare(CommandLine& line) override {
    line.About("one prediction as a sum over its neighbors",
               "The base's share plus each neighbor's contribution gives the score; of a blend the "
               "sum is in log space, and the parts of neighbors in its two logarithms are shared "
               "in proportion, by convention. Shown for the "
               "winning class and the runner-up; --json has every class. The flip set is found "
               "greedily, strongest neighbor first: without these neighbors, and with the others "
               "reweighted, the answer would differ.");
    DeclareMemory(line, &memory_path_);
    data_.Declare(line, DatasetUse::kPredict);
    line.Value("--row", &row_, "N", "which row of the input, counted from 0")
        .Default("the only one");
    line.Value("--without-id", &without_id_, "ID",
               "leave out this row of the memory, such as the query itself")
        .Default("none");
    answer_.Declare(line);
    unknown_.Declare(line);
    searched_.Declare(line);
    model_.Declare(line, /*check=*/true);
    line.Group("Output");
    line.Value("--lines", &lines_, "N", "neighbors shown; the sum is over all of them");
    line.Flag("--json", &json_, "print one JSON document instead of text (docs/json.md)");
    DeclareThreads(line, &threads_);
    line.AddExample("why row 7 got its answer", "resmem explain my.resmem --data test.npz --row 7");
    line.AddExample("why an image got its answer", "resmem explain my.resmem photo.png");
  }

  Result<ExitCode> Run(Console& console) override {
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory, searched_.Open(memory_path_, console));
    const MemoryDescription& description = memory.description();
    RESMEM_ASSIGN_OR_RETURN(const Input input,
                            model_.OpenInput(data_, memory_path_, memory, threads_, console));
    RESMEM_ASSIGN_OR_RETURN(const int64_t row, Row(input.dataset));
    Dataset::Block block;
    RESMEM_RETURN_IF_ERROR(input.dataset.Read(row, 1, &block));
    const Predictor predictor(memory);
    RESMEM_ASSIGN_OR_RETURN(PredictOptions options, answer_.Choose(predictor));
    options.threads = threads_;
    RESMEM_RETURN_IF_ERROR(unknown_.Apply(predictor, memory_path_, &options));
    RESMEM_ASSIGN_OR_RETURN(const int64_t exclude, ExcludedRow(memory));
    RESMEM_ASSIGN_OR_RETURN(const Explanation explanation,
                            Explain(predictor, block.view.keys.row_span(0),
                                    block.view.logits.row_span(0), options, exclude));
    if (json_) {
      RESMEM_ASSIGN_OR_RETURN(RunInfo run, DescribeThisRun(console, data_.Paths()));
      run.memory = DescribeMemory(memory_path_, memory);
      RESMEM_RETURN_IF_ERROR(PrintResult(
          ExplanationJson(explanation, description.class_names, FinishedRun(run, console)) + "\n"));
      return ExitCode::kOk;
    }
    const std::string name =
        input.images == nullptr ? "row " + std::to_string(row) : input.images->source(row);
    RESMEM_RETURN_IF_ERROR(PrintResult(
        name + "; " + AnswerText(options.method, options.parameters, description.task) + "\n" +
        SearchNotes(memory, options.parameters.k, std::ssize(explanation.lines)) + "\n" +
        ExplanationText(explanation, description, lines_)));
    return ExitCode::kOk;
  }

 private:
  static std::string SearchNotes(const ResidualMemory& memory, int64_t k, int64_t found) {
    std::string notes;
    const KeyTransform transform = memory.description().key_transform;
    if (transform != KeyTransform::kNone) {
      notes +=
          std::string("distances are of transformed keys: ") + KeyTransformName(transform) + "\n";
    }
    if (found < k) notes += "fewer than k: the memory has " + Counted(found, "neighbor") + "\n";
    if (k > 0 && memory.index().Approximate(k)) {
      notes += "neighbors by the index for recall " + ShortNumber(memory.index_info()->recall) +
               ": a true one may be missing (--exact finds all)\n";
    }
    return notes;
  }

  Result<int64_t> Row(const Dataset& dataset) const {
    if (!row_.has_value() && dataset.rows() == 1) return int64_t{0};
    if (row_.has_value() && *row_ >= 0 && *row_ < dataset.rows()) return *row_;
    return Status(ErrorCode::kInvalidArgument,
                  "--row" + (row_.has_value() ? " " + std::to_string(*row_) : " is missing") +
                      ": the input has rows 0 to " + std::to_string(dataset.rows() - 1));
  }

  Result<int64_t> ExcludedRow(const ResidualMemory& memory) const {
    if (!without_id_.has_value()) return int64_t{-1};
    const std::optional<int64_t> row = memory.FindId(*without_id_);
    if (row.has_value()) return *row;
    return Status(ErrorCode::kNotFound, "--without-id " + std::to_string(*without_id_) + ": " +
                                            memory_path_ + " has no row with this id");
  }

  std::string memory_path_;
  SearchedMemory searched_;
  DatasetOptions data_;
  ModelOptions model_;
  AnswerOptions answer_;
  UnknownRate unknown_;
  std::optional<int64_t> row_;
  int64_t lines_ = 20;
  std::optional<uint64_t> without_id_;
  int threads_ = 0;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeExplain() {
  return std::make_unique<ExplainCommand>();
}

}  // namespace resmem::cli
