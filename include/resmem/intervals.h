// Intervals for the predictions of a regression, as wide as the memory's neighbors disagree
// (docs/regression.md).
//
// Conformal: of held-out rows, score = |y - answer| / spread, where spread is the weighted
// deviation of the neighbors' residuals plus a constant.  A new row's interval is answer -+ q *
// spread, with q a quantile of these scores.  If held-out and new rows come from one distribution,
// and neither the base nor the answer was fitted on the held-out ones, it holds the true value with
// at least the probability asked for, whatever the distribution.
#ifndef RESMEM_INTERVALS_H_
#define RESMEM_INTERVALS_H_

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "resmem/predictor.h"

namespace resmem {

// The note of a memory that holds them as JSON.
inline constexpr char kIntervalsNote[] = "intervals";

struct IntervalFit {
  struct Output {
    float constant = 0;  // added to the deviation: the mean deviation of the held-out rows
    // Ascending: all of them, or evenly spread ranks, rounded up.
    std::vector<float> scores;
    std::vector<float> base_misses;  // |y - base|, the same: for intervals of one width, a rival
  };
  int64_t rows = 0;  // held-out ones
  // The answer that they belong to.
  Method method = Method::kResMem;
  Parameters parameters;
  std::vector<Output> outputs;
};

// The most that an answer may have outputs, and scores that are kept of each.
inline constexpr int64_t kMostIntervalOutputs = 64, kMostIntervalScores = 2000;

// Of the memory's own answer.  Errors: kUnsupported (no regression, too many outputs),
// kInvalidArgument (rows marked train, no rows), kBadData.
Result<IntervalFit> FitIntervals(const Predictor& predictor, const RowSource& rows,
                                 int threads = 0);

// For notes[kIntervalsNote], and back.  kNotFound where the memory has none; kMismatch where its
// answer was changed since; kCorrupt.
std::string IntervalFitText(const IntervalFit& fit);
Result<IntervalFit> IntervalsOf(const ResidualMemory& memory, const std::string& name);

// The factor q of each output for this share, above 0 and below 1.  kInvalidArgument where so few
// held-out rows cannot tell: 1 / (1 - share) - 1 are needed.
Result<std::vector<float>> IntervalFactors(const IntervalFit& fit, double share);

// The half width of each answer's interval, queries x outputs.  `neighbors` as FindNeighbors() gave
// them for the answer's parameters.
std::vector<float> HalfWidths(const Predictor& predictor, const IntervalFit& fit,
                              std::span<const float> factors, const Neighbors& neighbors);

// How intervals do on rows that they were not fitted on.
struct IntervalJudgment {
  double share = 0;                 // that was asked for
  int64_t values = 0, covered = 0;  // each output of a row is one
  double width = 0;                 // their mean
  double pinball = 0;  // mean pinball loss of both ends, at (1 - share) / 2 and (1 + share) / 2
  // The same of intervals of one width, from the base alone: the rival.
  int64_t base_covered = 0;
  double base_width = 0, base_pinball = 0;
};
Result<std::vector<IntervalJudgment>> JudgeIntervals(const Predictor& predictor,
                                                     const IntervalFit& fit, const RowSource& rows,
                                                     std::span<const double> shares,
                                                     int threads = 0);

// The same, of rows that were answered already.
class IntervalJudge {
 public:
  // Errors: as IntervalFactors().  `predictor` lives as long as this.
  static Result<IntervalJudge> Make(const Predictor& predictor, IntervalFit fit,
                                    std::span<const double> shares);
  // `answers`: rows x outputs, from these neighbors by the answer that was fitted.
  void Add(const Rows& rows, std::span<const float> answers, const Neighbors& neighbors);
  std::vector<IntervalJudgment> Finish() const;

 private:
  IntervalJudge(const Predictor& predictor, IntervalFit fit)
      : predictor_(&predictor), fit_(std::move(fit)) {}

  const Predictor* predictor_;
  IntervalFit fit_;
  std::vector<std::vector<float>> factors_;
  std::vector<IntervalJudgment> sums_;
};

}  // namespace resmem

#endif  // RESMEM_INTERVALS_H_
