// What a memory does to a key before distances are measured: docs/predictor.md, "Keys".  Users give
// keys as their model makes them; stored keys are transformed, and so is every query.
#ifndef RESMEM_MEMORY_KEYS_KEY_TRANSFORMER_H_
#define RESMEM_MEMORY_KEYS_KEY_TRANSFORMER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "resmem/residual_memory.h"

namespace resmem {

class KeyTransformer {
 public:
  KeyTransformer() = default;  // none
  static KeyTransformer Unit(int64_t dim);
  // key x matrix; `matrix`: dim x dim, sound by CheckMatrix().
  static KeyTransformer Whiten(int64_t dim, std::shared_ptr<const float> matrix);
  // Upper triangular, finite, the diagonal above 0.
  static bool CheckMatrix(std::span<const float> matrix, int64_t dim);

  KeyTransform kind() const { return kind_; }
  std::span<const float> matrix() const {  // whiten
    return {matrix_.get(), static_cast<size_t>(dim_ * dim_)};
  }

  // out: rows x dim; norms: one a row, the lengths that Undo() of unit keys needs, or null.  The
  // same bits for any thread count and however rows are cut into calls.  A value that float32
  // cannot hold becomes infinite.
  void Apply(MatrixView keys, int threads, float* out, float* norms = nullptr) const;
  // Where there is nothing to do, `keys`; otherwise a view of *storage.
  MatrixView Applied(MatrixView keys, int threads, std::vector<float>* storage) const;

  // The key as it was given, but for rounding.  `key` may be `stored`.
  void Undo(const float* stored, float norm, float* key) const;

 private:
  KeyTransform kind_ = KeyTransform::kNone;
  int64_t dim_ = 0;
  std::shared_ptr<const float> matrix_;
};

// Searches for keys as users give them.  Both must outlive it.
class TransformedIndex final : public KnnIndex {
 public:
  TransformedIndex(const KnnIndex& stored, const KeyTransformer& transformer)
      : stored_(stored), transformer_(transformer) {}

  int64_t rows() const override { return stored_.rows(); }
  int64_t dim() const override { return stored_.dim(); }
  Status Search(MatrixView queries, const SearchOptions& options, Neighbors* out) const override;
  bool Approximate(int64_t k) const override { return stored_.Approximate(k); }

 private:
  const KnnIndex& stored_;
  const KeyTransformer& transformer_;
};

}  // namespace resmem

#endif  // RESMEM_MEMORY_KEYS_KEY_TRANSFORMER_H_
