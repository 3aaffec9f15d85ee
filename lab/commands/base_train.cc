// resmem base train: a small base model of our own.
#include <algorithm>
#include <chrono>
#include <optional>

#include "base_model/base_model.h"
#include "console/command.h"
#include "console/format.h"
#include "console/next_step.h"
#include "console/output.h"
#include "inputs/dataset_options.h"
#include "inputs/labeled_inputs.h"
#include "outputs/output_paths.h"
#include "resmem/data/array.h"

namespace resmem::cli {
namespace {

constexpr int64_t kMostFolds = 1000;

class BaseTrain : public Command {
 public:
  void Declare(CommandLine& line) override;
  Result<ExitCode> Run(Console& console) override;

 private:
  Status CheckOptions() const;
  // Writes the file; gives the accuracy.
  Result<double> CrossFit(const LabeledInputs& inputs, int64_t classes) const;

  LabeledInputsOptions inputs_;
  BaseModelOptions options_;
  std::optional<int64_t> classes_;
  std::string output_, out_of_fold_;
  int64_t folds_ = 0;
};

void BaseTrain::Declare(CommandLine& line) {
  line.About("train a small base model: linear or one hidden layer",
             "For tables, embeddings and first experiments. Bring any other model in as exported "
             "arrays (resmem memorize).");
  inputs_.Declare(line, /*labels_required=*/true);
  line.Value("--class-count", &classes_, "N", "classes").Default("the largest label + 1");
  line.Group("Model");
  line.Value("--output", &output_, "FILE.base", "the new model").Short("-o").Required().File();
  line.Value("--hidden", &options_.hidden, "N",
             "units of the hidden layer, whose activations are the keys; 0: a linear model, whose "
             "keys are the standardized inputs");
  line.Group("Training");
  line.Value("--epochs", &options_.epochs, "N", "passes over the rows");
  line.Value("--batch", &options_.batch, "N", "rows per step");
  line.Value("--learning-rate", &options_.learning_rate, "X",
             "peak learning rate; each layer divides it by its number of inputs");
  line.Value("--momentum", &options_.momentum, "X", "0 to below 1");
  line.Value("--weight-decay", &options_.weight_decay, "X",
             "each step shrinks the weights by this share of the learning rate");
  line.Value("--seed", &options_.seed, "N", "seed of the initial weights, row order and folds");
  DeclareThreads(line, &options_.threads);
  line.Group("Cross-fitting");
  line.Value("--folds", &folds_, "K",
             "also train K models, each without one of K folds, for --out-of-fold-logits")
      .Default("off");
  line.Value("--out-of-fold-logits", &out_of_fold_, "FILE.npy",
             "where to write each row's logits from the model that has not seen it, for resmem "
             "memorize")
      .File();
  line.AddExample("an image classifier with 32 hidden units",
                  "resmem base train --inputs images.gz --labels labels.gz --hidden 32 -o my.base");
  line.AddExample("with out-of-fold residuals, for a base that memorizes its training set",
                  "resmem base train --inputs x.npy --labels y.npy -o my.base --folds 5 \\\n"
                  "    --out-of-fold-logits out_of_fold.npy");
}

Status BaseTrain::CheckOptions() const {
  if (folds_ > kMostFolds) {
    return Status(ErrorCode::kInvalidArgument, "--folds " + Count(folds_) +
                                                   ": each trains a model; give " +
                                                   Count(kMostFolds) + " or fewer");
  }
  if ((folds_ != 0) == !out_of_fold_.empty()) return {};
  return Status(ErrorCode::kInvalidArgument,
                "--folds K and --out-of-fold-logits FILE.npy belong together; give both");
}

Result<double> BaseTrain::CrossFit(const LabeledInputs& inputs, int64_t classes) const {
  std::vector<float> logits(static_cast<size_t>(inputs.rows() * classes));
  RESMEM_RETURN_IF_ERROR(
      OutOfFoldLogits(inputs.view(), inputs.labels, classes, options_, folds_, logits));
  RESMEM_RETURN_IF_ERROR(WriteNpy(out_of_fold_, MatrixView(logits.data(), inputs.rows(), classes)));
  return AccuracyOfLogits(logits, inputs.labels);
}

Result<ExitCode> BaseTrain::Run(Console& console) {
  RESMEM_RETURN_IF_ERROR(CheckOptions());
  RESMEM_RETURN_IF_ERROR(
      CheckOutputPaths({{"-o", output_}, {"--out-of-fold-logits", out_of_fold_}}, inputs_.Paths()));
  RESMEM_ASSIGN_OR_RETURN(const LabeledInputs inputs, inputs_.Load());
  const int64_t classes =
      classes_.value_or(int64_t{*std::max_element(inputs.labels.begin(), inputs.labels.end())} + 1);
  options_.progress = console.progress();
  const auto begin = std::chrono::steady_clock::now();
  RESMEM_ASSIGN_OR_RETURN(const BaseModel model,
                          BaseModel::Train(inputs.view(), inputs.labels, classes, options_));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::vector<float> logits(static_cast<size_t>(inputs.rows() * classes));
  RESMEM_RETURN_IF_ERROR(model.Run(inputs.view(), options_.threads, {}, logits));
  const double accuracy = AccuracyOfLogits(logits, inputs.labels);
  RESMEM_RETURN_IF_ERROR(model.Save(output_));

  Table table = Table::Facts();
  table.AddRow({"model", output_});
  table.AddRow({"layers", Count(model.inputs()) + " inputs, " +
                              (options_.hidden > 0 ? Count(options_.hidden) + " hidden, " : "") +
                              Count(classes) + " classes" + "; " +
                              Counted(model.parameters(), "parameter")});
  table.AddRow({"trained on", Counted(inputs.rows(), "row") + ", " +
                                  Counted(options_.epochs, "epoch") + ", " +
                                  Duration(seconds.count())});
  table.AddRow({"accuracy", Percent(accuracy) + " on the rows it was trained on"});
  if (folds_ != 0) {
    RESMEM_ASSIGN_OR_RETURN(const double unseen, CrossFit(inputs, classes));
    table.AddRow({"out of fold", Percent(unseen) + ", written to " + out_of_fold_});
  }
  RESMEM_RETURN_IF_ERROR(PrintResult(table.Text()));
  std::vector<std::string> next = {"base", "run", output_};
  inputs_.AddWords(&next);
  next.insert(next.end(), {"-o", "NEW.arrays"});
  SuggestNext(next, console);
  return ExitCode::kOk;
}

}  // namespace

std::unique_ptr<Command> MakeBaseTrain() {
  return std::make_unique<BaseTrain>();
}

}  // namespace resmem::cli
