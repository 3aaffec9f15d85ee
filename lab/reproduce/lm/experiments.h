// The experiments.  Every one gives the object that is kept as its step's result.
#ifndef RESMEM_LAB_REPRODUCE_LM_EXPERIMENTS_H_
#define RESMEM_LAB_REPRODUCE_LM_EXPERIMENTS_H_

#include <string>
#include <vector>

#include "reproduce/lm/workspace.h"
#include "reproduce/step.h"
#include "resmem/evaluation.h"

namespace resmem::cli::reproduce::lm {

struct Context : StepContext {
  Workspace& workspace;
};

// The paper's k, sigma and T for language models.
inline constexpr Parameters kPaperParameters = {50, 1.0f, 1.0f};
inline constexpr float kLambdas[] = {0.0f, 0.2f, 0.4f, 0.5f, 0.6f, 0.8f, 1.0f};
inline constexpr int64_t kShares[] = {10, 20, 40, 60, 80, 100};  // per cent of the memory

Result<Json> EncodeTexts(const Context& context);
// Trains, or looks at the run that --run names.
Result<Json> TrainModel(const Context& context);
Result<Json> Memorize(const Context& context);
Result<Json> IndexKeys(const Context& context);
// k, sigma and the calibrator on the validation text, written into the memory; lambda of kNN-LM by
// the same text.
Result<Json> TuneMemory(const Context& context);
// Every method on one text, at the paper's parameters and at the tuned ones.
Result<Json> JudgeText(const Context& context, const std::string& set);
// Base and ResMem by the first 10 to 100 % of the memory, with exact search.
Result<Json> JudgeSizes(const Context& context);
// What the index costs in accuracy: against the exact search of JudgeSizes() on the same tokens.
Result<Json> JudgeIndex(const Context& context);
// Tokens that ResMem fixed and others that it harmed.
Result<Json> ShowExamples(const Context& context);

}  // namespace resmem::cli::reproduce::lm

#endif  // RESMEM_LAB_REPRODUCE_LM_EXPERIMENTS_H_
