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
  std::vector<int64_t> k;
  std::vector<float> sigma;
  std::vector<float> temperature;
};
// Around the paper's values, sigma scaled to the distances found: 20 x 20 x 20.
// `typical_distance`: median distance to the nearest neighbors.
Grid DefaultGrid(double typical_distance, int64_t rows);

struct TuneOptions {
  Grid grid;  // an empty axis is filled from DefaultGrid()
  Objective objective = Objective::kGain;
  double fpr_limit = 0.05;
  int64_t folds = 0;           // >= 2: also an honest estimate, each fold by the others' choice
  bool leave_one_out = false;  // the rows are those of the memory
  uint64_t seed = 0;           // of the folds
  int threads = 0;
  Progress* progress = nullptr;
};

struct TuningPoint {
  Parameters parameters;
  int64_t fixed = 0, harmed = 0;  // classification
  double loss = 0;                // regression: mean squared error
};

struct Tuning {
  int64_t rows = 0;
  Objective objective = Objective::kGain;
  Grid grid;
  std::vector<TuningPoint> points;  // k fastest, then sigma, then temperature
  Parameters chosen;
  PairedGain chosen_gain;           // on the rows it was chosen on: optimistic
  std::optional<PairedGain> cross_validated_gain;  // with folds: the honest one
  std::string calibrator;           // the name with the lowest NLL on these rows
  float calibrator_temperature = 1;
  std::vector<std::string> warnings;
  double search_seconds = 0, grid_seconds = 0;
};

Result<Tuning> Tune(const Predictor& predictor, const RowSource& rows, const TuneOptions& options);

// The memory's description with this choice and its trace in it, for UpdateDescription().
MemoryDescription ApplyTuning(MemoryDescription description, const Tuning& tuning);

}  // namespace resmem

#endif  // RESMEM_TUNER_H_
