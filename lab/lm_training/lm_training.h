// Training a language model: a decoder-only T5 that learns to predict the next token.
//
// `resmem lm train` writes a recipe into the run's folder and calls TrainLanguageModel() there.
// The folder (docs/language_models.md):
//
//   recipe.json            all that the run depends on
//   log.jsonl              a line an evaluation
//   checkpoint-NNNNNNNN    the state after so many steps; the newest two are kept
//   last.onnx last.json    the model as it is now
//   best.onnx best.json    the one with the least validation loss, where there are validation
//   tokens
//
// Started again in the same folder it goes on from the newest sound checkpoint, in the middle of a
// pass, and ends with the bytes of an unbroken run, whatever the number of threads.
#ifndef RESMEM_LAB_LM_TRAINING_LM_TRAINING_H_
#define RESMEM_LAB_LM_TRAINING_LM_TRAINING_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "recipe/named_values.h"
#include "resmem/status.h"
#include "transformer/shape.h"

namespace resmem {

// How the learning rate moves over the steps, after a linear rise over `warmup_steps`.
//   kInverseRoot  the peak for `constant_steps`, then times sqrt(constant_steps / step)
//   kCosine       half a cosine from the peak down to a tenth of it at the last step
enum class LmSchedule { kInverseRoot, kCosine };
constexpr auto NamesOf(LmSchedule) {
  return std::to_array<NamedValue<LmSchedule>>(
      {{"inverse-root", LmSchedule::kInverseRoot}, {"cosine", LmSchedule::kCosine}});
}

//   kAdamW      Loshchilov and Hutter 2019; weight decay on matrices, not on norms
//   kAdafactor  Shazeer and Stern 2018, as T5 used it: no momentum, second moments by row and
//               column, steps relative to the size of the parameter
enum class LmOptimizer { kAdamW, kAdafactor };
constexpr auto NamesOf(LmOptimizer) {
  return std::to_array<NamedValue<LmOptimizer>>(
      {{"adamw", LmOptimizer::kAdamW}, {"adafactor", LmOptimizer::kAdafactor}});
}

struct LmRecipe {
  std::string network = "t5-d256-l4-h4-f1024";
  std::string tokens;      // token sets (resmem/lm/token_set.h)
  std::string validation;  // empty: none
  int64_t vocabulary = 0;  // 0: the token set's, rounded up to a multiple of 128 (T5: 32,128)
  int64_t context = 256;   // tokens of a window; windows never cross documents
  int64_t validation_windows = 256;  // looked at, spread evenly over the set

  std::string preset = "lm-short";  // where the values below came from
  int64_t passes = 1;               // over the tokens
  int64_t batch = 16;               // windows a step
  LmOptimizer optimizer = LmOptimizer::kAdafactor;
  LmSchedule schedule = LmSchedule::kCosine;
  double peak_rate = 0.03;
  int64_t warmup_steps = 200;
  int64_t constant_steps = 0;
  double weight_decay = 0;   // of kAdamW
  double most_gradient = 1;  // a longer gradient is shortened to this; 0: never
  double dropout = 0;
  double embedding_deviation = 1;  // of the first embeddings; T5's
  uint64_t seed = 1;
  int64_t threads = 0;             // 0: as many as the machine has
  int64_t evaluate_every = 200;    // steps between looks at the validation windows
  int64_t checkpoint_every = 100;  // steps

  bool operator==(const LmRecipe&) const = default;
};

// "lm-paper": the recipe of the paper's section on language models, with T5's optimizer.
// "lm-short": one pass on a CPU.  kInvalidArgument for another name.
Status ApplyLmPreset(const std::string& name, LmRecipe* recipe);
// Every value in its bounds, every name known.  Files are not looked at.
Status CheckLmRecipe(const LmRecipe& recipe);
// How many of a run's steps are its warm-up: the recipe's, but at most a quarter, or a short run
// would never learn at its rate.
int64_t LmWarmupSteps(const LmRecipe& recipe, int64_t steps);
// The learning rate of a step, both from 0.
double LmRateAt(const LmRecipe& recipe, int64_t step, int64_t steps);

Status WriteLmRecipe(const std::string& path, const LmRecipe& recipe);
// Errors: kNotFound, kBadData with the field, kTooNew, kIo.
Result<LmRecipe> ReadLmRecipe(const std::string& path);
// The first field in which two recipes differ, with both values; empty: none.  The number of
// threads is not compared: nothing depends on it.
std::string LmRecipeDifference(const LmRecipe& a, const LmRecipe& b);

struct LmReport {
  int64_t step = 0, steps = 0;
  double rate = 0;
  double loss = 0;                                        // mean since the report before
  double accuracy = 0;                                    // during training, too
  double validation_loss = -1, validation_accuracy = -1;  // -1: there are no validation tokens
  double tokens_per_second = 0;
  double seconds = 0;  // of training since the run began
};

struct LmObserver {
  std::function<void(const std::string& note)> note;
  // After each step; a false answer stops the run, which writes a checkpoint first.
  std::function<bool(int64_t step, int64_t steps, double loss, double tokens_per_second)> step;
  std::function<void(const LmReport&)> report;
};

// Errors: those of the recipe and the token sets; kBadData where the loss is no longer finite (the
// last good checkpoint stays); kCancelled; kIo, kResourceExhausted.
Status TrainLanguageModel(const std::string& folder, const LmObserver& observer);

}  // namespace resmem

#endif  // RESMEM_LAB_LM_TRAINING_LM_TRAINING_H_
