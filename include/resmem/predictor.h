// What a memory answers.  An untuned memory, and Method::kResMem always, as the paper: s(x) =
// softmax(f(x) / T) + sum_i w_i r_i over the k nearest rows, w_i = exp(-d_i / sigma) normalized to
// sum 1; for regression f(x) + sum_i w_i r_i. A tuned memory by what Tune() fitted and
// cross-validation supports: the blend, always a probability vector (docs/predictor.md), or the
// base.  Beside them, from the same neighbors, the methods that they must beat.
//
// ResMem's scores sum to 1 but may leave [0, 1]: ranking uses the raw score, ToProbabilities()
// makes probabilities.  With an empty memory or k = 0 the score is the base's, bit for bit.
#ifndef RESMEM_PREDICTOR_H_
#define RESMEM_PREDICTOR_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "resmem/residual_memory.h"

namespace resmem {

struct PredictOptions {
  Parameters parameters;  // Predictor's default: those of the memory's own answer
  Method method = Method::kResMem;
  float lambda = 0.25f;        // kKnnLm, 0 .. 1: (1 - lambda) softmax(f) + lambda p_knn; no T in it
  int threads = 0;             // 0: as many as the machine has
  double unknown_rate = 0.01;  // Explain(), as of IsUnknown()
  Progress* progress = nullptr;
};

// Whether the method needs what Tune() stores: kBlend, kLogitBoost.
bool NeedsBlend(Method method);

// Keeps a reference to the memory; const and thread-safe like it.
class Predictor {
 public:
  explicit Predictor(const ResidualMemory& memory);
  ~Predictor();
  Predictor(Predictor&&) noexcept;

  const ResidualMemory& memory() const;
  PredictOptions DefaultOptions() const;
  // The memory's own parameters for this method: the blend has some of its own.
  PredictOptions OptionsOf(Method method) const;

  // One neighbor pass serves every method and every k up to `k`.
  // `exclude`: as in SearchOptions, for rows that are in the memory.
  Status FindNeighbors(MatrixView keys, int64_t k, std::span<const int64_t> exclude, int threads,
                       Progress* progress, Neighbors* out) const;

  // scores: rows x outputs.  `logits` are the base's for the same queries (regression: its
  // predictions).  `neighbors` must hold at least parameters.k a query.
  // kNearestClassMean: minus the distance to each class's mean key, from `keys`; the lowest float
  // for a class without rows.  Other methods do not look at `keys`.
  // Errors: kInvalidArgument (parameters, too few neighbors, another temperature than the one the
  // memory is frozen at), kBadData (shapes, logits that are not finite), kUnsupported.
  Status Score(MatrixView keys, MatrixView logits, const Neighbors& neighbors,
               const PredictOptions& options, std::span<float> scores) const;

  // How many neighbors tell how far a query is; 0: the memory has no blend, and cannot tell.
  int64_t DistanceNeighbors() const;
  // How far query q lies from the memory: the percentile, 0 .. 100, of its distance among the rows
  // that the memory's blend was fitted on; -1 where it has none, or no neighbor was found, or fewer
  // were searched than DistanceNeighbors().
  float DistancePercentile(const Neighbors& neighbors, int64_t q) const;
  // The same of all queries, one value each.  `found`: their neighbors, which are searched once
  // more where they are too few to tell; `exclude` as in FindNeighbors().
  Status DistancePercentiles(MatrixView keys, const Neighbors& found,
                             std::span<const int64_t> exclude, int threads,
                             std::span<float> percentiles) const;

  // FindNeighbors and Score in one.
  Status Predict(MatrixView keys, MatrixView logits, const PredictOptions& options,
                 std::span<float> scores) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Whether a query is farther from the memory than all but this share of the rows that its blend was
// fitted on.  `percentile`: by DistancePercentile(); without any neighbor a query is unknown, too.
bool IsUnknown(float percentile, double rate);
Status CheckUnknownRate(double rate);  // a share, 0 .. 1

// Each neighbor's share in an answer with these parameters, queries x neighbors.k: exp(-distance /
// sigma), divided by the sum over the first parameters.k that exist; 0 for the others.
std::vector<float> WeightsOf(const Neighbors& neighbors, const Parameters& parameters);

// Index of the largest score, the smallest index among equals.
int64_t ArgMax(std::span<const float> scores);

// A prediction as a sum that anybody can check.  ResMem: score = base + contributions + rounding.
// The blend, in log space: eta = base + contributions + rounding, score = softmax(eta); a line's
// contribution is then its exact share of the residual part plus, by convention, its proportional
// share of the two logarithms.
struct Explanation {
  Method method = Method::kResMem;
  struct Line {
    int64_t row = 0;  // in the memory
    uint64_t id = 0;
    std::string source;
    int32_t label = -1;  // classification
    double distance = 0;
    double weight = 0;                 // normalized: the lines' weights sum to 1
    std::vector<double> contribution;  // weight * residual, per output; the blend: see above
    std::vector<double> exact{};       // the blend: what of it is an exact sum
  };
  // The blend: b_j times each part, per class; they sum to eta but for rounding.
  struct Parts {
    std::vector<double> base, labels, expected, residual;
  };
  std::optional<Parts> parts;
  // By Predictor::DistancePercentile() and IsUnknown(); none where the memory cannot tell.
  struct Distance {
    float percentile = -1;
    double unknown_rate = 0;
    bool unknown = false;
  };
  std::optional<Distance> distance;
  std::vector<double> eta;  // the blend
  // softmax(f / T), or f for regression; the blend: what is left of eta without neighbors' shares
  std::vector<double> base;
  std::vector<Line> lines;       // nearest first
  std::vector<double> rounding;  // what float32 summation lost: |.| < 1e-5, makes the sum exact
  std::vector<float> score;      // as Predict() gives it
  // Classification, as resmem predict shows them: softmax(f), and the answer's, ResMem's by the
  // memory's calibrator.
  std::vector<float> base_probability, probability;
  int64_t base_prediction = -1, prediction = -1;  // classification
  // Lines whose removal, with the rest weighed again, changes the prediction: taken greedily,
  // strongest first, so perhaps not the fewest.  Empty where removing them all does not.
  std::vector<int64_t> flip_set;  // indices into `lines`
};
// Of base, resmem and what needs a blend; kUnsupported for other methods.
Result<Explanation> Explain(const Predictor& predictor, std::span<const float> key,
                            std::span<const float> logits, const PredictOptions& options,
                            int64_t exclude = -1);

// Calibrators, by name.  `scores`: one line, changed in place into a probability vector.
std::span<const std::string_view> CalibratorNames();
// What it computes, in a few words; empty where none has this name.
std::string_view CalibratorHelp(std::string_view calibrator);
Status ToProbabilities(std::string_view calibrator, float temperature, std::span<float> scores);

}  // namespace resmem

#endif  // RESMEM_PREDICTOR_H_
