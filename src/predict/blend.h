// The blended answer of one query: docs/predictor.md, struct Blend in resmem/residual_memory.h.
//
//   A = sum_i w_i onehot(y_i)              labels      what the neighbors are
//   B = sum_i w_i softmax(f_i / T)         expected    what the base said there
//   eta = b_0 log softmax(f) + b_1 log(A + a p0) + b_2 log(B + a p0) + b_3 (A - B)
//
// A and A - B are the sums of correction.h.  Sparse memories keep A - B for some classes only;
// where it is missing it counts as 0.  The same bits on every machine and for any thread count.
#ifndef RESMEM_PREDICT_BLEND_H_
#define RESMEM_PREDICT_BLEND_H_

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "predict/correction.h"
#include "resmem/residual_memory.h"

namespace resmem {

// Whose distance says how far a query is from the memory.
inline constexpr size_t kGuardNeighbor = 10;

enum BlendPart : size_t { kBasePart, kLabelsPart, kExpectedPart, kResidualPart };

// What one query's neighbors say about how far to trust them.
struct BlendGates {
  std::array<float, Blend::kGates> u{};  // log d_1, log d_k, log n_eff; not scaled
  float distance = 0;                    // to the tenth neighbor, or the last of fewer
  // Standard deviation of the logits over the classes: small where the base hardly tells classes
  // apart.  Blurred, darkened and noisy inputs lie close to each other and near rows of any class,
  // so that distances may be small all the same.
  float spread = 0;
  bool neighbors = false;  // whether there are any
};
// `distances`: of the neighbors that count.
BlendGates GatesOf(std::span<const float> distances, const WeightedNeighbors& neighbors,
                   float sigma);

// Scaled and held within -3 .. 3.
std::array<float, Blend::kGates> ScaledGates(const Blend& blend, const BlendGates& gates);

// 1 where distance and spread are as of the rows that the blend was fitted on, 0 beyond.
float FadeOf(const Blend& blend, const BlendGates& gates);

// 0 .. 100: where a distance lies among those that the blend was fitted on.
float PercentileOf(const Blend& blend, float distance);

// b_j(x), faded: without neighbors, and far from all that tuning saw, the base's at T0.
// Regression: the base counts 1, and only the residual's is used.
std::array<float, Blend::kParts> CoefficientsOf(const Blend& blend, const BlendGates& gates);

// One query after the other; allocates nothing once it has met the largest k.  One object serves
// one thread.
class BlendRow {
 public:
  explicit BlendRow(const ResidualMemory& memory);
  // With residuals kept elsewhere than in the memory's own cache.
  BlendRow(const ResidualMemory& memory, ResidualCache* cache);

  // Classification: finite logits, and the query's neighbors.
  void Load(std::span<const float> logits, std::span<const int64_t> rows,
            std::span<const float> distances, const Parameters& parameters, float prior,
            float base_temperature);
  // The same in two steps, of which the first does not depend on the prior.
  void LoadNeighbors(std::span<const int64_t> rows, std::span<const float> distances,
                     const Parameters& parameters);
  void LoadLogs(std::span<const float> logits, float prior, float base_temperature);
  // In the place of LoadNeighbors(): what labels(), part(kResidualPart) and gates() were then.
  void Restore(std::span<const float> labels, std::span<const float> residual,
               const BlendGates& gates);
  // Regression: base and mean residual.
  void LoadRegression(std::span<const int64_t> rows, std::span<const float> distances,
                      const Parameters& parameters);

  const BlendGates& gates() const { return gates_; }
  const Correction& correction() const { return correction_; }
  // What b_j multiplies, of each class; the base's without its constant, the logits less the
  // largest: it leaves with the softmax.
  std::span<const float> part(size_t j) const { return parts_[j]; }
  std::span<const float> base_probabilities() const { return base_; }  // p0
  std::span<const float> labels() const { return labels_; }            // A

  // out = softmax(eta); regression: logits + b_3 (A - B).
  void Answer(const Blend& blend, std::span<const float> logits, std::span<float> out) const;
  // Classification: Load() and Answer() in fewer passes, the same but for rounding; parts are not
  // there afterwards, gates are.
  void Predict(const Blend& blend, const Parameters& parameters, std::span<const float> logits,
               std::span<const int64_t> rows, std::span<const float> distances,
               std::span<float> out);

 private:
  void Weigh(std::span<const int64_t> rows, std::span<const float> distances,
             const Parameters& parameters);
  BlendRow(const ResidualMemory& memory, Correction correction);
  // Adds up label_sums_ and remembers which classes there are; `sum`: of residuals, not scaled.
  void SumLabels(std::span<const float> sum);

  const ResidualMemory* memory_;
  const bool classify_;
  Correction correction_;
  BlendGates gates_;
  std::array<std::vector<float>, Blend::kParts> parts_;
  std::vector<float> base_, log_base_;    // p0
  std::vector<float> labels_, expected_;  // A, B
  std::vector<float> scratch_;
  // Predict(): weights by label, 0 between two queries; and the classes that have some.
  std::vector<float> label_sums_;
  struct LabelSum {
    size_t label;
    float residual;  // A - B of this class
  };
  std::vector<LabelSum> labeled_;
};

}  // namespace resmem

#endif  // RESMEM_PREDICT_BLEND_H_
