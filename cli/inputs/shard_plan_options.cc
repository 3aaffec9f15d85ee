#include "inputs/shard_plan_options.h"

#include <utility>
#include <vector>

#include "console/format.h"
#include "inputs/text/token_options.h"

namespace resmem::cli {

void ShardPlanOptions::Declare(CommandLine& line, Use use) {
  line.Group("Input");
  line.Value("--tokens", &tokens_, "FILE", "token set to memorize, from resmem lm tokens")
      .Excludes({"--data"})
      .Needs({"--model"})
      .File();
  line.Value("--data", &data_, "FILE",
             "rows to memorize: a folder, .npz or .safetensors with keys, logits, labels and "
             "perhaps ids")
      .File();
  line.Value("--queries", &queries_, "FILE",
             "rows to search for and to judge by: a token set, or arrays as --data")
      .File();
  if (use == Use::kShards) {
    line.Value("--held-out", &held_out_, "FILE",
               "rows that the recall of an index is measured on: a token set, or arrays as --data")
        .Default("the shard's own rows, leaving each one out")
        .Needs({"--recall"})
        .File();
  }
  line.Choice<Task, Task>(
          "--task", &plan_.task,
          {{"classification", Task::kClassification}, {"regression", Task::kRegression}},
          "what the base predicts")
      .Needs({"--data"});
  line.Group("Memory");
  line.Choice<std::optional<KeyType>, KeyType>("--key-type", &key_type_,
                                               {{"float32", KeyType::kFloat32},
                                                {"float16", KeyType::kFloat16},
                                                {"int8", KeyType::kInt8}},
                                               "how keys are stored, in 4, 2 or 1 bytes per value")
      .Default("float32; float16 for tokens");
  line.Choice<KeyTransform, KeyTransform>(
          "--key-transform", &plan_.key_transform,
          {{"none", KeyTransform::kNone}, {"unit", KeyTransform::kUnit}},
          "what is done to keys before distances are measured: nothing, or scaled to length 1")
      .Needs({"--data"});
  line.Choice<ResidualForm, ResidualForm>(
          "--form", &plan_.form,
          {{"logits", ResidualForm::kLogits},
           {"dense", ResidualForm::kDense},
           {"sparse", ResidualForm::kSparse}},
          "what is stored for each row: logits, all residuals, or the --top largest of them")
      .Default("logits; sparse above 4,096 classes; dense for regression")
      .Needs({"--data"});
  line.Flag("--half-residuals", &plan_.half_residuals, "store residuals in 2 bytes per value")
      .Needs({"--data"});
  line.Value("--top", &plan_.top, "N", "residuals kept per row, for tokens and --form sparse");
  line.Value("--recall", &plan_.recall, "SHARE",
             "share of the true neighbors that an index must find")
      .Default("none: search is exact");
  line.Value("--seed", &plan_.seed, "N", "seed of the index");
  parameters_.Declare(line, "of tokens the paper's: k = 50, sigma = 1, T = 1");
}

void ShardPlanOptions::DeclareModel(CommandLine& line, Use use) {
  line.Group("Model");
  line.Value("--model", &model_, "FILE", "FILE.onnx from resmem lm train")
      .Needs({"--tokens"})
      .File();
  line.Choice<TokenEngine, TokenEngine>(
          "--engine", &plan_.engine,
          {{"auto", TokenEngine::kAuto},
           {"native", TokenEngine::kNative},
           {"onnxruntime", TokenEngine::kOnnxRuntime}},
          "what runs the model; the plan keeps what auto chooses, so that all shards have one")
      .Needs({"--tokens"});
  line.Value("--window", &window_, "TOKENS", "tokens that the model reads at once")
      .Default("256, or what the model can read if that is less")
      .Needs({"--tokens"});
  line.Value("--stride", &stride_, "TOKENS", "tokens from one window to the next")
      .Default("three quarters of --window")
      .Needs({"--tokens"});
  if (use == Use::kForecast) return;
  line.Value("--segment-rows", &plan_.segment_rows, "N",
             "tokens per file, approximately; a killed run loses at most this many")
      .Needs({"--tokens"});
}

Result<ShardPlan> ShardPlanOptions::Asked() const {
  if (tokens_.empty() == data_.empty()) {
    return Status(ErrorCode::kInvalidArgument,
                  "what is to be memorized? give --tokens FILE or --data FILE");
  }
  ShardPlan plan = plan_;
  plan.tokens = !tokens_.empty();
  plan.rows.path = plan.tokens ? tokens_ : data_;
  plan.model.path = model_;
  if (!queries_.empty()) plan.queries = ShardFile{queries_, ""};
  if (!held_out_.empty()) plan.held_out = ShardFile{held_out_, ""};
  plan.key_type = key_type_.value_or(plan.tokens ? KeyType::kFloat16 : KeyType::kFloat32);
  const Parameters usual = plan.tokens ? Parameters{50, 1.0f, 1.0f} : Parameters();
  RESMEM_ASSIGN_OR_RETURN(plan.parameters, parameters_.Apply(usual, plan.task));
  if (!plan.tokens) return plan;
  RESMEM_ASSIGN_OR_RETURN(const ModelManifest manifest, ReadModelManifest(model_));
  plan.windows = NewWindows(manifest.context, window_, stride_);
  return plan;
}

Result<ShardPlan> ShardPlanOptions::Plan(int64_t shards, const OnnxOptions& runtime) const {
  RESMEM_ASSIGN_OR_RETURN(ShardPlan asked, Asked());
  return PlanShards(std::move(asked), shards, runtime);
}

std::string ShardTable(const ShardPlan& plan) {
  constexpr int64_t kMostLines = 20;
  std::vector<std::string> titles = {"shard", "rows", "from row"};
  if (plan.tokens) titles.emplace_back("documents");
  Table table = Table::OfNumbers(titles);
  const auto shards = static_cast<int64_t>(plan.shards.size());
  for (int64_t i = 0; i < std::min(shards, kMostLines); ++i) {
    const ShardRange& range = plan.shards[static_cast<size_t>(i)];
    std::vector<std::string> cells = {std::to_string(i + 1) + "/" + std::to_string(shards),
                                      Count(range.rows()), Count(range.begin)};
    if (plan.tokens) cells.push_back(Count(range.end_document - range.first_document));
    table.AddRow(std::move(cells));
  }
  return table.Text() +
         (shards > kMostLines ? "... and " + Count(shards - kMostLines) + " more\n" : "");
}

}  // namespace resmem::cli
