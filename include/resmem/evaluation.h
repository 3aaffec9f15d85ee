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
#include <utility>
#include <vector>

#include "resmem/intervals.h"
#include "resmem/predictor.h"
#include "resmem/rivals.h"

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
// Of left - right, two shares of separate rows: Newcombe's, from the two Wilson intervals.
Interval DifferenceInterval(const Accuracy& left, const Accuracy& right);

// Two methods on the same rows.  In integers: gain = (fixed - harmed) / total, TPR = fixed / total,
// FPR = harmed / total, so that gain = TPR - FPR holds exactly.
struct PairedGain {
  int64_t total = 0;
  int64_t fixed = 0;   // base wrong, other right
  int64_t harmed = 0;  // base right, other wrong
  int64_t both_right = 0, both_wrong = 0;
  double gain = 0, tpr = 0, fpr = 0;
  Interval interval;   // paired, 95 %
  double p_value = 1;  // McNemar, exact two-sided
};
PairedGain MakePairedGain(int64_t fixed, int64_t harmed, int64_t both_right, int64_t both_wrong);

// Of probabilities against what happened.  Natural logarithm; 15 equal-width bins of the
// probability of the method's answer.
struct Calibration {
  double nll = 0, brier = 0, ece = 0;  // Brier: summed over classes, 0 .. 2
  // Rows whose label had a probability below 2^-23, which counts as 2^-23 in the NLL.
  int64_t floored = 0;
  struct Bin {
    int64_t count = 0;
    double confidence = 0, accuracy = 0;  // means over the bin
  };
  std::array<Bin, 15> bins;
};

// What is expected of answers and probabilities besides accuracy and NLL.
struct Metrics {
  double brier = 0, ece = 0;     // as in Calibration
  Interval ece_interval;         // bootstrap of the rows, seeded
  double top5 = 0;               // share of rows whose label is among the five likeliest
  double macro_f1 = 0;           // mean over the classes that occur as label or answer
  double balanced_accuracy = 0;  // mean over the classes that occur of the share answered right
  // Each class against the rest, mean over the classes that occur; two classes: the usual one.
  // None where rows x classes are more than 2^21.
  std::optional<double> auc;
};

// One line of the side-by-side table.
struct MethodResult {
  Method method = Method::kBase;
  float lambda = 0;            // kKnnLm
  Refit refit = Refit::kNone;  // kBase
  // k and sigma of k-NN and kNN-LM, T of the temperature; `own`: tuned for it (rivals.h), and not
  // simply ResMem's.
  Parameters parameters;
  bool own = false;
  Accuracy accuracy;
  PairedGain against_base;
  // Mean -log of the label's probability: of the base's softmax(f), of the neighbors' labels, of
  // kNN-LM's mixture, of ResMem's score by the calibrator, of the blend; and the rows that were
  // below 2^-23, which count as 2^-23.  None for nearest class mean, which has no probabilities.
  std::optional<double> nll;
  int64_t floored = 0;
  // For the methods in Evaluation::pairs that have probabilities, up to 4,096 classes.
  std::optional<Metrics> metrics;
  // In each of Evaluation::slices: right answers, and the sum that `nll` is the mean of.
  std::vector<int64_t> slice_correct;
  std::vector<double> slice_nll;
};

// MethodName(), or "temperature" or "last-layer".
const char* ResultName(Method method, Refit refit);

// Two methods on the same rows.
struct MethodPair {
  size_t left = 0, right = 0;  // positions in Evaluation::methods
  PairedGain gain;             // of right against left
  // Mean NLL of left less right's: above 0, right's is better.  None without probabilities.
  struct NllGain {
    double value = 0;
    Interval interval;  // paired, 95 %
  };
  std::optional<NllGain> nll;
};

// A class or a slice.
struct GroupResult {
  std::string name;
  int64_t total = 0, base_correct = 0, resmem_correct = 0, fixed = 0, harmed = 0;
};

// Rows of class `label` that were answered `answer`, by the base and with the memory.
struct Confusion {
  std::string label, answer;  // names, as in GroupResult
  int64_t base = 0, resmem = 0;
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
  // Of ResMem, k-NN and kNN-LM; none: the memory's own.
  std::optional<Parameters> parameters;
  // Whose answer is judged against the base: kResMem, kBlend, kLogitBoost or kBase.  None: the
  // memory's own answer, or ResMem's where `parameters` are given.
  std::optional<Method> method;
  // The rows evaluated are rows of the memory and do not find themselves.  A row is known by its
  // id, or where the rows have none by its number: its label or target and its key must then be
  // those of the memory's row (kBadData).
  bool leave_one_out = false;
  // Only rows of this role; none: all, with a warning where some are marked train or validation.
  std::optional<Role> only;
  // Instead of a search: the k nearest of the `count` rows that follow `begin` evaluated ones, as
  // found elsewhere (merge_neighbors.h).  Not with leave_one_out.
  std::function<Status(int64_t begin, int64_t count, int64_t k, Neighbors* out)> neighbors{};
  bool baselines = true;  // nearest class mean, k-NN, kNN-LM over lambdas
  std::vector<float> lambdas = {0.0f, 0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f, 0.7f, 0.8f, 0.9f, 1.0f};
  std::vector<int32_t> coarse_of_class;  // superclass of each class; empty: no coarse analysis
  int64_t keep_rows = 0;                 // how many RowResults to keep, from the first
  int threads = 0;                       // 0: as many as the machine has
  Progress* progress = nullptr;
};

struct Evaluation {
  Task task = Task::kClassification;
  int64_t rows = 0;
  int64_t train_rows = 0;           // of these, marked train
  Method method = Method::kResMem;  // whose answer is judged; "resmem" in the names below is this
  Parameters parameters;            // its own
  bool leave_one_out = false;
  std::vector<MethodResult> methods;  // classification: base first, `method` last
  PairedGain gain;                    // `method` against base
  // Every two methods, but for the sweep of lambdas, of which kNN-LM's own takes part or else the
  // one nearest 0.25.
  std::vector<MethodPair> pairs;
  std::vector<std::string> better_rivals;  // sentences: who is better than `method`, and in what
  // Base: softmax(f), as it would be without us.  ResMem's scores: by the memory's calibrator.
  Calibration base_calibration, resmem_calibration;
  std::string calibrator;
  float calibrator_temperature = 1;
  std::vector<GroupResult> classes, slices;  // classes by number, slices by name
  // The most frequent 1,000; all of them where there are at most 32 classes.  None where there are
  // more than 4,096, which are words rather than classes.
  std::vector<Confusion> confusions;
  std::optional<CoarseAnalysis> coarse;
  std::vector<RowResult> row_results;
  double mean_residual_mass = 0;  // see ResidualMemory; classification
  // Evaluated rows with a key at distance zero in the memory: leaked, or trained on.
  int64_t rows_at_distance_zero = 0;
  struct Regression {
    double base_mse = 0, knn_mse = 0, resmem_mse = 0;  // mean over rows and outputs
    double base_mae = 0, knn_mae = 0, resmem_mae = 0;  // the same of absolute errors
    double base_r2 = 0, knn_r2 = 0, resmem_r2 = 0;     // 0 where the targets do not vary
    double mse_reduction = 0;                          // base - ResMem
    Interval interval;                                 // of the reduction: paired, 95 %
    // At percentiles 0 .. 100 of the rows: the mean absolute error over the outputs.
    std::vector<double> base_errors, resmem_errors;
    // Of a memory with intervals (intervals.h), asked for its own answer.
    std::vector<IntervalJudgment> intervals;
  };
  std::optional<Regression> regression;
  std::vector<std::string> warnings;  // plain sentences: nothing to add, leaked rows, harm
  double search_seconds = 0, score_seconds = 0;
};

// The keys of `most` rows, or of all where there are no more, one after another: queries for
// IndexMemory().  Chosen by the seed, however the rows are cut into blocks.
Result<std::vector<float>> SampleKeys(const RowSource& rows, int64_t most, uint64_t seed);

// One neighbor pass.  Holds one block at a time, so that the rows may be more than fit in memory.
// Every number is the same for any thread count and any cut into blocks.
// Errors: kBadData (rows that do not fit the memory, or lack labels), kNotFound (leave-one-out of
// an id that is not in the memory), kInvalidArgument, kCancelled.
Result<Evaluation> Evaluate(const Predictor& predictor, const RowSource& rows,
                            const EvaluationOptions& options = {});

// What `eval --fail-if-worse` and `doctor` judge, whatever the memory answers
// by: fewer right answers than the base (regression: a larger squared error), by any amount;
bool IsLessRight(const Evaluation& evaluation);
// probabilities with a worse NLL than the base's, by any amount.
bool HasWorseNll(const Evaluation& evaluation);

// The sentence on a memory with too little to add, because the base has memorized its training
// rows; empty where there is enough.
std::string MemorizedWarning(const ResidualMemory& memory, double mean_residual_mass);

}  // namespace resmem

#endif  // RESMEM_EVALUATION_H_
