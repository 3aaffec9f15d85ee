// Chooses k, sigma and T on validation rows: one search at the largest k, then the whole
// grid from the cached neighbors.  Rows marked test are refused.
#ifndef RESMEM_TUNER_H_
#define RESMEM_TUNER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "resmem/evaluation.h"

namespace resmem {

enum class Objective {
  kGain,         // largest gain
  kTprUnderFpr,  // largest TPR among points with FPR < fpr_limit (the paper's careful rule)
};
const char* ObjectiveName(Objective objective);  // "gain", "tpr-under-fpr"

struct Grid {
  std::vector<int64_t> k;          // > 0
  std::vector<float> sigma;        // > 0
  std::vector<float> temperature;  // > 0; a frozen memory allows its own only
};
// Around the paper's values, sigma scaled to the distances found: 20 x 20 x 20, k at most `rows`.
// `typical_distance`: the median over queries of the distance to the tenth neighbor.
Grid DefaultGrid(double typical_distance, int64_t rows);

struct TuneOptions {
  Grid grid;  // an empty axis is filled from DefaultGrid(); others are sorted
  Objective objective = Objective::kGain;  // regression: the smallest mean squared error
  double fpr_limit = 0.05;
  // 2 .. 1000 and at most the rows: also an honest estimate, each fold by the others' choice.
  int64_t folds = 0;
  bool leave_one_out = false;  // the rows are those of the memory; see EvaluationOptions
  uint64_t seed = 0;           // of the folds
  // What may be held at once: each row's logits and largest-k neighbors (12 bytes each).
  int64_t memory_limit = int64_t{4} << 30;
  int threads = 0;
  Progress* progress = nullptr;
};

struct TuningPoint {
  Parameters parameters;
  int64_t fixed = 0, harmed = 0;  // classification
  double loss = 0;                // regression: mean squared error
};

struct Tuning {
  Task task = Task::kClassification;
  int64_t rows = 0;
  Objective objective = Objective::kGain;
  double fpr_limit = 0;
  Grid grid;                        // sorted, as used
  std::vector<TuningPoint> points;  // k fastest, then sigma, then temperature
  // k = 0, the base alone, where no point is better or none meets the limit; a warning says so.
  // The temperature is then 1, or the frozen one.
  Parameters chosen;
  PairedGain chosen_gain;                          // on the rows it was chosen on: optimistic
  std::optional<PairedGain> cross_validated_gain;  // with folds: the honest one
  double base_loss = 0, chosen_loss = 0;           // regression
  std::optional<double> cross_validated_loss;
  std::string calibrator;  // the name with the lowest NLL on these rows
  float calibrator_temperature = 1;
  double calibrated_nll = 0;  // with it
  std::vector<std::string> warnings;
  double search_seconds = 0, grid_seconds = 0;
};

// Where some rows are marked validation only those are used; otherwise all are, and one that is
// marked test is refused (kInvalidArgument, with their number and the first).  Among equal points
// the order of preference is: fewer harmed, smaller k, temperature nearest 1, larger sigma.
// Every point counts exactly what Evaluate() would count there, for any thread count.
Result<Tuning> Tune(const Predictor& predictor, const RowSource& rows, const TuneOptions& options);

// The memory's description with this choice and its trace in it, for UpdateDescription().
MemoryDescription ApplyTuning(MemoryDescription description, const Tuning& tuning);

}  // namespace resmem

#endif  // RESMEM_TUNER_H_
