// Does the memory help?  Base and ResMem on the same rows, with intervals, and every
// baseline from the same neighbors.
#ifndef RESMEM_EVALUATION_H_
#define RESMEM_EVALUATION_H_

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "resmem/predictor.h"

namespace resmem {

struct Interval {
  double low = 0, high = 0;  // 95 %
};

// `correct` of `total`, with the Wilson interval.
struct Accuracy {
  int64_t correct = 0, total = 0;
  double value = 0;
  Interval interval;
};
Accuracy MakeAccuracy(int64_t correct, int64_t total);

// Two methods on the same rows.  gain = (fixed - harmed) / total = TPR - FPR, in integers.
struct PairedGain {
  int64_t total = 0;
  int64_t fixed = 0;       // base wrong, other right
  int64_t harmed = 0;      // base right, other wrong
  int64_t both_right = 0, both_wrong = 0;
  double gain = 0, tpr = 0, fpr = 0;
  Interval interval;       // paired, 95 %
  double p_value = 1;      // McNemar, exact two-sided
};
PairedGain MakePairedGain(int64_t fixed, int64_t harmed, int64_t both_right, int64_t both_wrong);

struct Calibration {
  double nll = 0, brier = 0, ece = 0;  // natural log; 15 equal-width bins
  struct Bin {
    int64_t count = 0;
    double confidence = 0, accuracy = 0;  // means over the bin
  };
  std::array<Bin, 15> bins;
};

// One line of the side-by-side table.
struct MethodResult {
  Method method = Method::kBase;
  float lambda = 0;  // kKnnLm
  Accuracy accuracy;
  PairedGain against_base;
};

// A class or a slice.
struct GroupResult {
  std::string name;
  int64_t total = 0, base_correct = 0, resmem_correct = 0, fixed = 0, harmed = 0;
};

// Of the fixed examples, how often was the base's wrong answer in the truth's superclass?
struct CoarseAnalysis {
  int64_t base_errors = 0, base_errors_same_coarse = 0;
  int64_t fixed = 0, fixed_same_coarse = 0;
};

// One evaluated row, for tables of examples and for joining with the user's own data.
struct RowResult {
  int64_t row = 0;
  int32_t label = -1, base = -1, resmem = -1;
  float base_probability = 0, resmem_probability = 0;  // of the method's own answer
};

struct EvaluationOptions {
  PredictOptions predict;
  bool leave_one_out = false;            // the rows evaluated are those of the memory, by id
  std::vector<float> lambdas = {0.0f, 0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f, 0.7f, 0.8f, 0.9f, 1.0f};
  bool baselines = true;                 // nearest class mean, k-NN, kNN-LM over lambdas
  std::vector<int32_t> coarse_of_class;  // superclass of each class; empty: no coarse analysis
  int64_t keep_rows = 0;                 // how many RowResults to keep, from the first
};

struct Evaluation {
  Task task = Task::kClassification;
  int64_t rows = 0;
  Parameters parameters;
  std::vector<MethodResult> methods;  // base first, ResMem last
  PairedGain gain;                    // ResMem against base
  Calibration base_calibration, resmem_calibration;
  std::string calibrator;
  std::vector<GroupResult> classes, slices;
  std::optional<CoarseAnalysis> coarse;
  std::vector<RowResult> row_results;
  double mean_residual_mass = 0;   // see ResidualMemory
  double share_at_distance_zero = 0;  // evaluated rows that lie in the memory: leaked, or train
  // Regression: mean squared error and R^2 of each, with a paired interval of the difference.
  struct Regression {
    double base_mse = 0, knn_mse = 0, resmem_mse = 0, base_r2 = 0, resmem_r2 = 0;
    Interval mse_reduction;  // base - ResMem
  };
  std::optional<Regression> regression;
  std::vector<std::string> warnings;  // plain sentences: nothing to add, leaked rows, harm
  double search_seconds = 0, score_seconds = 0;
};

// Where rows come from, in blocks: a Dataset, or the caller's own arrays.
// Calls `use` for consecutive blocks until all rows are through.
using RowSource = std::function<Status(const std::function<Status(int64_t begin, const Rows&)>& use)>;
RowSource ReadDataset(const Dataset& dataset, int64_t block_rows = 4096);

Result<Evaluation> Evaluate(const Predictor& predictor, const RowSource& rows,
                            const EvaluationOptions& options,
                            const std::vector<std::string>& slices_of_rows = {});

}  // namespace resmem

#endif  // RESMEM_EVALUATION_H_
