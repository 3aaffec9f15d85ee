// What the blend is fitted on: its parts for held-out rows, at one point of the grid.
#ifndef RESMEM_TUNE_BLEND_BLEND_SAMPLE_H_
#define RESMEM_TUNE_BLEND_BLEND_SAMPLE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "memory/residuals/residual_cache.h"
#include "predict/blend.h"
#include "tune/validation_rows.h"

namespace resmem {

// Of k, sigma, T and the prior.
struct BlendPoint {
  Parameters parameters;
  float prior = 1;

  bool operator==(const BlendPoint&) const = default;
};

class BlendSample {
 public:
  // As many of the rows as fit `memory_limit`, evenly spread.
  BlendSample(const ResidualMemory& memory, const ValidationRows& rows, int64_t memory_limit);

  int64_t rows() const { return static_cast<int64_t>(labels_.size()); }
  int64_t classes() const { return classes_; }
  bool regression() const { return !classify_; }
  int32_t label(int64_t row) const { return labels_[static_cast<size_t>(row)]; }
  int32_t fold(int64_t row) const { return folds_[static_cast<size_t>(row)]; }
  // Of each row, see ValidationBlock.
  const std::vector<int32_t>& slices() const { return slices_; }

  // Computes everything below at a point.
  void Load(const BlendPoint& point, float base_temperature, int threads);

  // Part j of a row, for each class.
  std::span<const float> part(int64_t row, size_t j) const {
    return std::span(parts_).subspan(
        (static_cast<size_t>(row) * Blend::kParts + j) * static_cast<size_t>(classes_),
        static_cast<size_t>(classes_));
  }
  const BlendGates& gates(int64_t row) const { return gates_[static_cast<size_t>(row)]; }

  // Regression: with e = target - base and r the mean residual, the means over outputs of
  struct Errors {
    double ee = 0, er = 0, rr = 0;
    double Of(double share) const { return ee - 2 * share * er + share * share * rr; }
  };
  const Errors& errors(int64_t row) const { return errors_[static_cast<size_t>(row)]; }

  // Means, deviations and percentiles of the point's gates, for a blend of it.
  Blend Describe(const BlendPoint& point, float base_temperature) const;

 private:
  void LoadRow(const BlendPoint& point, float base_temperature, int64_t row, bool same_neighbors,
               BlendRow* scratch);
  // Residuals at a temperature, where the memory keeps logits and there is room for all.
  ResidualCache* CacheFor(float temperature);

  struct Place {
    const ValidationBlock* block;
    int64_t row;
  };

  const ResidualMemory& memory_;
  const bool classify_;
  const int64_t classes_;
  std::vector<Place> places_;
  std::vector<int32_t> labels_, folds_, slices_;
  std::vector<float> parts_;       // rows x parts x classes
  std::vector<float> labels_sum_;  // rows x classes: A
  Parameters loaded_{-1, 0, 0};    // that parts_ are of
  std::unique_ptr<ResidualCache> cache_;
  std::vector<BlendGates> gates_;
  std::vector<Errors> errors_;
};

}  // namespace resmem

#endif  // RESMEM_TUNE_BLEND_BLEND_SAMPLE_H_
