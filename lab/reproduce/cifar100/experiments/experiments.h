// The experiments, one file each.  Every one gives the object that is kept as its step's result.
#ifndef RESMEM_LAB_REPRODUCE_CIFAR100_EXPERIMENTS_EXPERIMENTS_H_
#define RESMEM_LAB_REPRODUCE_CIFAR100_EXPERIMENTS_EXPERIMENTS_H_

#include "reproduce/cifar100/base.h"
#include "reproduce/cifar100/training_run.h"
#include "reproduce/step.h"

namespace resmem::cli::reproduce::cifar100 {

struct Context : StepContext {
  Workspace& workspace;
};

// Trains the network; base, baselines and ResMem at the paper's values and, where rows are held
// out, at values tuned on them; training accuracy.
Result<Json> TrainAndJudge(const Context& context, const TrainingRun& run);

// The paper's network at tuned values; it has no held-out rows of its own, so they come from
// elsewhere: from the short run's choice, and from rows kept out of the memory only.
Result<Json> TunePaperRun(const Context& context);

// Base and ResMem at the epochs kept of the paper's run.
Result<Json> JudgeEpochs(const Context& context);

// One image at a time on one thread: the network, the search, the correction.
Result<Json> MeasureLatency(const Context& context);

// Test accuracy against k, sigma and T, one at a time, from one neighbor pass.
Result<Json> SweepParameters(const Context& context);

// Were the errors that ResMem fixes errors within a superclass?
Result<Json> CompareSuperclasses(const Context& context);
// The same over all seeds of the short run, intervals by image.
Result<Json> PoolSuperclasses(const Context& context);
// Of each superclass the first test image whose wrong answer was close and is fixed, and the first
// that is harmed so.
Result<Json> PickExamples(const Context& context);

// What a memory takes on disk in several forms, and its accuracy in each.
Result<Json> MeasureBytes(const Context& context);

// Quality of the probabilities, before and after.
Result<Json> JudgeProbabilities(const Context& context);

// Test images made worse.
Result<Json> JudgeShift(const Context& context);

// The same for a memory of `rows` that is tuned on held-out rows, and so answers by a blend; test
// images `judged` only.
Result<Json> JudgeShiftedAnswers(Workspace& workspace, const Base& base, const Embedded& rows,
                                 const Embedded& held_out, std::span<const int64_t> judged);
Result<Json> JudgeBlendShift(const Context& context);
Result<Json> JudgePretrainedShift(const Context& context);

// Base, ResMem, kNN-LM tuned by NLL and the blend on the test images, each against the blend. The
// memory holds `rows`; nothing but the held-out rows chooses.
Result<Json> JudgeAnswers(Workspace& workspace, const Base& base, const Embedded& rows,
                          const Embedded& held_out, const Embedded& test);
// The same of a training run that holds rows out.
Result<Json> JudgePredictor(const Context& context, const std::string& run);
// Of the network from elsewhere: half of the test images stands for held-out rows.
Result<Json> JudgePretrainedPredictor(const Context& context);

// Why a gain is as large as it is: what the base has memorized, keys of unit length, the best
// values in hindsight, a memory of images that the base has not seen.
Result<Json> Diagnose(const Context& context);

// A network from elsewhere that has nearly memorized its training images.
Result<Json> JudgePretrained(const Context& context);

}  // namespace resmem::cli::reproduce::cifar100

#endif  // RESMEM_LAB_REPRODUCE_CIFAR100_EXPERIMENTS_EXPERIMENTS_H_
