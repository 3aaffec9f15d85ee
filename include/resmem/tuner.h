// Fits a memory's answer on held-out rows (docs/predictor.md): ResMem's k, sigma and T over a grid,
// and the blend, which becomes the memory's answer where cross-validation supports it.  One search
// at the largest k serves everything.  Rows marked test are refused.
#ifndef RESMEM_TUNER_H_
#define RESMEM_TUNER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "resmem/evaluation.h"
#include "resmem/rivals.h"

namespace resmem {

enum class Objective {
  kNll,          // lowest negative log-likelihood; ResMem's own parameters by the gain
  kGain,         // largest gain in accuracy
  kTprUnderFpr,  // largest TPR among points with FPR < fpr_limit (the paper's careful rule)
};
const char* ObjectiveName(Objective objective);  // "nll", "accuracy", "tpr-at-fpr"

struct Grid {
  std::vector<int64_t> k;          // > 0
  std::vector<float> sigma;        // > 0
  std::vector<float> temperature;  // > 0; a frozen memory allows its own only
};
// Around the paper's values, sigma scaled to the distances found: 20 x 20 x 20, k at most `rows`.
// Tune() goes beyond the axes' ends where the best point lies there, with k up to kMostTunedK.
// `typical_distance`: the median over queries of the distance to the tenth neighbor.
Grid DefaultGrid(double typical_distance, int64_t rows);
inline constexpr int64_t kMostTunedK = 1024;  // for more neighbors no index is of use

struct TuneOptions {
  Grid grid;  // an empty axis is filled from DefaultGrid(); others are sorted
  Objective objective = Objective::kNll;  // regression: the smallest mean squared error
  double fpr_limit = 0.05;
  // The answer that is fitted beside ResMem's parameters: kBlend or kLogitBoost; kResMem: none.
  Method method = Method::kBlend;
  // Cross-validation, each fold by the others' choice: 2 .. 1000 and at most the rows; 0: none, and
  // no blend.  Not given: 5, or 0 below kFewestRows.
  std::optional<int64_t> folds;
  // Key transforms to choose among, by the cross-validated loss of the blend; a single one is taken
  // whatever comes of it.  Empty: the memory's own.  Where there are several, search is exact.
  std::vector<KeyTransform> key_transforms;
  static constexpr int64_t kFewestRows = 100;           // for a blend
  static constexpr int64_t kFewestRowsForSlopes = 250;  // for coefficients that depend on distance
  bool leave_one_out = false;  // the rows are those of the memory; see EvaluationOptions
  uint64_t seed = 0;           // of the folds
  // Rows of one slice are not independent, such as a document's tokens: whole slices make up the
  // folds, and the blend's intervals count slices, not rows.  Needs two slices or more.
  bool whole_slices = false;
  // What may be held at once: each row's logits and largest-k neighbors (12 bytes each).
  int64_t memory_limit = int64_t{4} << 30;
  // For the parts of the rows that the blend is fitted on, 20 bytes a class and row.  Where more
  // rows are given than fit, as many as do, evenly spread; a warning says how many.
  int64_t fit_megabytes = 3072;
  static constexpr int64_t kMostFitMegabytes = int64_t{1} << 24;
  int threads = 0;
  Progress* progress = nullptr;
};

struct TuningPoint {
  Parameters parameters;
  int64_t fixed = 0, harmed = 0;  // classification
  double loss = 0;                // regression: mean squared error
};

// What came of fitting the blend.
struct BlendTuning {
  Method method = Method::kBlend;
  bool adopted = false;        // cross-validation supports it: the memory's answer is this
  std::string reason;          // why it is not adopted, or not fitted; a sentence
  std::optional<Blend> blend;  // as fitted on all rows; none: nothing was fitted
  int64_t rows = 0;            // that it was fitted on, see TuneOptions::fit_megabytes
  int64_t folds = 0;
  int64_t points = 0;   // of the grid, which follows the optimum
  bool slopes = false;  // coefficients depend on distance
  double ridge = 0;     // on the slopes
  // Cross-validated, each row by coefficients that were fitted without it.  Regression: mean
  // squared errors in the place of NLL.
  double base_nll = 0;    // softmax(f)
  double scaled_nll = 0;  // softmax(f / T), T fitted: what is to be had without a memory
  double nll = 0;
  double nll_gain = 0;    // scaled_nll - nll
  Interval nll_interval;  // of nll_gain: paired, 95 %
  PairedGain gain;        // of accuracy against the base
  double seconds = 0;
};

// What came of choosing a key transform.  The memory's own is kept unless the 95 % interval of the
// gain lies above 0 and the blend of the other is adopted.
struct KeyTuning {
  KeyTransform former = KeyTransform::kNone, chosen = KeyTransform::kNone;
  std::string reason;  // why the memory's own is kept, where there was a choice; a sentence
  struct Trial {
    KeyTransform transform = KeyTransform::kNone;
    double nll = 0;      // of its blend, cross-validated; regression: squared error
    std::string reason;  // why it could not be tried; empty: it was
  };
  std::vector<Trial> trials;  // where there were several
  // What the choice takes off the loss of the memory's own keys, each row judged by the transform
  // that the other folds choose; paired.
  double gain = 0;
  Interval interval;
};

// What came of tuning a rival: kKnn, kKnnLm, or the base with a refit.
struct RivalTuning {
  Method method = Method::kKnn;
  Refit refit = Refit::kNone;
  Parameters parameters;  // k and sigma, or T
  float lambda = 1;       // kKnnLm
  double ridge = 0;       // of the last layer
  // Cross-validated with the folds, the last layer with two; without folds on the rows chosen on.
  double nll = 0;
  PairedGain gain;
};

struct Tuning {
  Task task = Task::kClassification;
  int64_t rows = 0;
  Objective objective = Objective::kNll;
  double fpr_limit = 0;
  KeyTuning keys;
  Grid grid;                        // sorted, as used
  std::vector<TuningPoint> points;  // k fastest, then sigma, then temperature
  // The best point on these rows.  k = 0, the base alone, where no point is better or none meets
  // the limit; a warning says so.  The temperature is then 1, or the frozen one.
  Parameters chosen;
  PairedGain chosen_gain;                          // on the rows it was chosen on: optimistic
  std::optional<PairedGain> cross_validated_gain;  // with folds: the honest one
  double base_loss = 0, chosen_loss = 0;           // regression
  std::optional<double> cross_validated_loss;
  // Why cross-validation does not support `chosen`; a sentence.  Empty: it does, or it was not
  // asked (no folds, and only ResMem was asked for).
  std::string resmem_reason;
  // What the memory answers by from now on: ResMem at `chosen`, the blend, or the base where
  // neither is supported.  None: nothing was fitted, and the memory stays as it is.
  std::optional<Method> answer;
  std::string calibrator;  // the name with the lowest NLL on these rows
  float calibrator_temperature = 1;
  double calibrated_nll = 0;               // with it
  std::optional<BlendTuning> blend;        // unless TuneOptions::method is kResMem
  Rivals rivals;                           // by the same objective; classification
  std::vector<RivalTuning> rival_tunings;  // none below TuneOptions::kFewestRows
  std::vector<std::string> warnings;
  double search_seconds = 0, grid_seconds = 0, rival_seconds = 0;
};

// Where some rows are marked validation only those are used; otherwise all are, and one that is
// marked test is refused (kInvalidArgument, with their number and the first).  Among equal points
// the order of preference is: fewer harmed, smaller k, temperature nearest 1, larger sigma.
// Every point counts exactly what Evaluate() would count there, for any thread count.
Result<Tuning> Tune(const Predictor& predictor, const RowSource& rows, const TuneOptions& options);

// The memory's description with this choice and its trace in it, for UpdateDescription():
// Tuning::answer, and the key transform that was chosen, for which UpdateDescription() rewrites the
// keys.  ResMem's parameters stay as they were where only ResMem was asked for and
// cross-validation does not support it.  What the description said before is kept for
// UndoTuning().  Without an answer: the description as it is.
MemoryDescription ApplyTuning(MemoryDescription description, const Tuning& tuning);
// The description as it was before the last ApplyTuning().  kNotFound where there is nothing to
// restore.
Result<MemoryDescription> UndoTuning(MemoryDescription description);

}  // namespace resmem

#endif  // RESMEM_TUNER_H_
