// A training run: windows in, steps, looks at the validation windows, checkpoints.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "lm_training/lm_training.h"
#include "lm_training/onnx_export.h"
#include "lm_training/run_state.h"
#include "lm_training/training_windows.h"
#include "resmem/models/onnx_model.h"
#include "support/file_system.h"
#include "support/guard.h"
#include "support/parallel.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr int64_t kVocabularyStep = 128;  // as T5 rounds 32,100 up to 32,128
constexpr uint64_t kDropoutStream = uint64_t{1} << 61;

double Now() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

// The least vocabulary that a recipe's model must have for these tokens.
Result<int64_t> VocabularyFor(const LmRecipe& recipe, const TokenSet& tokens) {
  const int64_t needed = tokens.vocabulary_size();
  if (recipe.vocabulary == 0) {
    return (needed + kVocabularyStep - 1) / kVocabularyStep * kVocabularyStep;
  }
  if (recipe.vocabulary >= needed) return recipe.vocabulary;
  return Status(ErrorCode::kMismatch,
                Text(tokens.path(), ": its tokenizer has ", needed, " pieces, but the recipe's ",
                     "vocabulary is ", recipe.vocabulary));
}

// A model that does not fit would be killed by the system in the middle of its work.
Status CheckMemory(const LmRecipe& recipe, const LanguageModelShape& shape) {
  // Parameters, gradient and, of AdamW, two moments.
  const int64_t arrays = recipe.optimizer == LmOptimizer::kAdamW ? 4 : 2;
  const int64_t needed = arrays * static_cast<int64_t>(sizeof(float)) * ParameterCount(shape) +
                         Transformer::Bytes(shape, recipe.context);
  const int64_t present = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  if (needed <= present) return {};
  constexpr int64_t kMegabyte = 1 << 20;
  return Status(
      ErrorCode::kResourceExhausted,
      Text("training ", recipe.network, " takes about ", needed / kMegabyte,
           " MB of memory, this machine has ", present / kMegabyte, "; choose a smaller network"));
}

class Run {
 public:
  Run(const std::string& folder, const LmObserver& observer)
      : folder_(folder, kLmRun), observer_(observer) {}
  Status Train();

 private:
  Status Prepare();
  Result<Outcome> Step();
  Status Report();
  Status Export(const std::string& name) const;
  NamedValues State();

  RunFolder folder_;
  std::string data_;  // its fingerprint
  const LmObserver& observer_;
  LmRecipe recipe_;
  std::optional<TokenSet> tokens_, validation_;
  std::vector<TrainingWindow> windows_, validation_windows_;
  std::vector<int64_t> order_;  // of the pass that is being made
  int64_t order_pass_ = -1;
  int64_t steps_a_pass_ = 0, steps_ = 0;
  LanguageModelShape shape_;
  std::optional<ParameterLayout> layout_;
  std::optional<Transformer> model_;
  std::unique_ptr<Optimizer> optimizer_;
  std::vector<float> values_, gradient_;
  int threads_ = 1;
  RunProgress progress_;
};

Status Run::Prepare() {
  RESMEM_ASSIGN_OR_RETURN(recipe_, ReadLmRecipe(folder_.File("recipe.json")));
  threads_ = ResolveThreads(static_cast<int>(recipe_.threads));
  RESMEM_ASSIGN_OR_RETURN(tokens_, TokenSet::Open(recipe_.tokens));
  RESMEM_ASSIGN_OR_RETURN(const int64_t vocabulary, VocabularyFor(recipe_, *tokens_));
  if (!recipe_.validation.empty()) {
    RESMEM_ASSIGN_OR_RETURN(validation_, TokenSet::Open(recipe_.validation));
    if (validation_->description().tokenizer != tokens_->description().tokenizer ||
        validation_->vocabulary_size() != tokens_->vocabulary_size()) {
      return Status(ErrorCode::kMismatch,
                    Text(recipe_.validation, " was made by another tokenizer than ", recipe_.tokens,
                         "; make both with the same one"));
    }
    validation_windows_ =
        EvenlySpread(CutWindows(*validation_, recipe_.context), recipe_.validation_windows);
  }
  data_ =
      tokens_->fingerprint() + (validation_.has_value() ? " " + validation_->fingerprint() : "");
  windows_ = CutWindows(*tokens_, recipe_.context);
  steps_a_pass_ = (std::ssize(windows_) + recipe_.batch - 1) / recipe_.batch;
  steps_ = steps_a_pass_ * recipe_.passes;
  RESMEM_ASSIGN_OR_RETURN(shape_, ParseLanguageModel(recipe_.network, vocabulary));
  RESMEM_RETURN_IF_ERROR(CheckMemory(recipe_, shape_));
  layout_.emplace(shape_, recipe_.embedding_deviation);
  values_ = FirstParameters(*layout_, recipe_.seed);
  gradient_.resize(values_.size());
  optimizer_ = MakeOptimizer(recipe_, *layout_, threads_);
  model_.emplace(shape_, *layout_, recipe_.context, threads_);
  return {};
}

NamedValues Run::State() {
  NamedValues state = {{"parameters", values_}};
  for (auto& [name, values] : optimizer_->State()) state.emplace_back(name, values);
  return state;
}

Result<Outcome> Run::Step() {
  const int64_t pass = progress_.step / steps_a_pass_;
  if (pass != order_pass_) {
    order_ = ShuffledWindows(std::ssize(windows_), recipe_.seed, pass);
    order_pass_ = pass;
  }
  std::vector<TrainingWindow> chosen;
  const int64_t first = progress_.step % steps_a_pass_ * recipe_.batch;
  for (int64_t i = first; i < std::min(first + recipe_.batch, std::ssize(order_)); ++i) {
    chosen.push_back(windows_[static_cast<size_t>(order_[static_cast<size_t>(i)])]);
  }
  const ExampleBatch batch(*tokens_, chosen);
  std::fill(gradient_.begin(), gradient_.end(), 0.0f);
  Dropout key;
  key.key = recipe_.seed + kDropoutStream;
  const Outcome outcome =
      model_->Learn(batch.examples(), recipe_.dropout,
                    key.At(static_cast<uint64_t>(progress_.step)).key, gradient_);
  const double length =
      std::sqrt(SquaredLength(gradient_, threads_)) / static_cast<double>(outcome.predicted);
  if (!std::isfinite(outcome.loss) || !std::isfinite(length)) {
    return Status(ErrorCode::kBadData,
                  Text("the loss is no longer finite in step ", progress_.step + 1,
                       ": training diverged. The last checkpoint is kept; train again with a "
                       "smaller --peak-rate (it was ",
                       recipe_.peak_rate, ")"));
  }
  double factor = 1 / static_cast<double>(outcome.predicted);
  if (recipe_.most_gradient > 0) factor *= std::min(1.0, recipe_.most_gradient / length);
  const double rate = LmRateAt(recipe_, progress_.step, steps_);
  optimizer_->Step(gradient_, factor, rate, progress_.step + 1, values_);
  model_->SetParameters(values_);
  return outcome;
}

Status Run::Export(const std::string& name) const {
  const std::string path = folder_.File(name + ".onnx");
  RESMEM_RETURN_IF_ERROR(ExportLanguageModel(path, shape_, *layout_, values_, recipe_.context));
  ModelManifest manifest;
  manifest.input = kTokensInput;
  manifest.context = recipe_.context;
  manifest.tokenizer = tokens_->description().tokenizer;
  manifest.embedding = kTokensEmbedding;
  manifest.logits = kTokensLogits;
  manifest.dim = shape_.dim;
  manifest.classes = shape_.vocabulary;
  manifest.network = recipe_.network;
  return WriteModelManifest(path, manifest);
}

Status Run::Report() {
  LmReport report;
  report.step = progress_.step;
  report.steps = steps_;
  report.rate = LmRateAt(recipe_, progress_.step - 1, steps_);
  const auto predicted = static_cast<double>(progress_.predicted);
  report.loss = progress_.loss / predicted;
  report.accuracy = static_cast<double>(progress_.right) / predicted;
  report.tokens_per_second = predicted / progress_.report_seconds;
  RESMEM_RETURN_IF_ERROR(Export("last"));
  if (validation_.has_value()) {
    const ExampleBatch batch(*validation_, validation_windows_);
    const Outcome outcome = model_->Judge(batch.examples());
    report.validation_loss = outcome.loss / static_cast<double>(outcome.predicted);
    report.validation_accuracy =
        static_cast<double>(outcome.right) / static_cast<double>(outcome.predicted);
    if (progress_.best_loss < 0 || report.validation_loss < progress_.best_loss) {
      progress_.best_loss = report.validation_loss;
      RESMEM_RETURN_IF_ERROR(Export("best"));
    }
  }
  report.seconds = progress_.seconds;
  RESMEM_RETURN_IF_ERROR(folder_.Log(ReportJson(report)));
  progress_.loss = progress_.report_seconds = 0;
  progress_.predicted = progress_.right = 0;
  observer_.report(report);
  return {};
}

Status Run::Train() {
  RESMEM_RETURN_IF_ERROR(Prepare());
  const NamedValues state = State();
  RESMEM_ASSIGN_OR_RETURN(progress_, RestoreRun(folder_, data_, state, observer_.note));
  RESMEM_RETURN_IF_ERROR(folder_.CutLog(progress_.step));
  observer_.note(
      Text(recipe_.network, ": ", layout_->size, " parameters, a vocabulary of ", shape_.vocabulary,
           ", ", windows_.size(), " windows of ", tokens_->documents(),
           " documents to learn from, ", steps_, " steps",
           progress_.step > 0 ? Text("; resumed after step ", progress_.step) : std::string()));
  const int64_t warmup = LmWarmupSteps(recipe_, steps_);
  if (warmup < recipe_.warmup_steps) {
    observer_.note(Text("a warm-up of ", recipe_.warmup_steps, " steps is too long for a run of ",
                        steps_, ": it takes ", warmup, ", a quarter; more text or --passes lets ",
                        "it learn longer"));
  }
  model_->SetParameters(values_);
  while (progress_.step < steps_) {
    const double begin = Now();
    RESMEM_ASSIGN_OR_RETURN(const Outcome outcome, Step());
    const double seconds = Now() - begin;
    ++progress_.step;
    progress_.seconds += seconds;
    progress_.report_seconds += seconds;
    progress_.loss += outcome.loss;
    progress_.predicted += outcome.predicted;
    progress_.right += outcome.right;
    const auto predicted = static_cast<double>(outcome.predicted);
    const bool last = progress_.step == steps_;
    const bool reported = last || progress_.step % recipe_.evaluate_every == 0;
    if (reported) RESMEM_RETURN_IF_ERROR(Report());
    const bool stopped =
        !observer_.step(progress_.step, steps_, outcome.loss / predicted, predicted / seconds);
    if (reported || stopped || progress_.step % recipe_.checkpoint_every == 0) {
      RESMEM_RETURN_IF_ERROR(SaveRun(folder_, progress_, data_, state));
    }
    if (stopped && !last) {
      return Status(ErrorCode::kCancelled, Text("stopped after step ", progress_.step,
                                                "; the same command goes on from there"));
    }
  }
  return {};
}

}  // namespace

Status TrainLanguageModel(const std::string& folder, const LmObserver& observer) try {
  RESMEM_ASSIGN_OR_RETURN(const std::unique_ptr<FileLock> lock, LockRun(folder));
  return Run(folder, observer).Train();
} catch (...) {
  return CaughtException("train a language model");
}

}  // namespace resmem
