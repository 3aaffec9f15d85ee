// The parameters as the matrix products read them; of a model that learns, remade after each
// step of the optimizer.
#ifndef RESMEM_TRANSFORMER_PACKED_WEIGHTS_H_
#define RESMEM_TRANSFORMER_PACKED_WEIGHTS_H_

#include <vector>

#include "support/aligned_array.h"
#include "transformer/bfloat16.h"
#include "transformer/shape.h"

namespace resmem {

// Of a matrix W, outputs x inputs.
struct PackedMatrix {
  AlignedArray<Bfloat16> forward;   // panels of W^T, for y = x W^T
  AlignedArray<Bfloat16> backward;  // panels of W, for the gradient of x; to learn
  int64_t outputs = 0, inputs = 0;

  Panels Forward() const { return {forward.data(), inputs}; }
  Panels Backward() const { return {backward.data(), outputs}; }
};

struct PackedLayer {
  PackedMatrix qkv, projection, expansion, contraction;
};

class PackedWeights {
 public:
  // `layout` must outlive it.
  PackedWeights(const LanguageModelShape& shape, const ParameterLayout& layout, ModelUse use);
  void Pack(const float* parameters, int threads);

  std::vector<PackedLayer> layers;
  AlignedArray<Bfloat16> embedding;         // vocabulary x dim, Bfloat16Stride(dim) apart
  AlignedArray<Bfloat16> embedding_turned;  // dim x vocabulary, too; for training
  AlignedArray<Bfloat16> embedding_panels;  // of its transposed, for logits; to answer

 private:
  struct Part {
    const Parameter* from;
    PackedMatrix* to;
  };
  std::vector<Part> parts_;
  const Parameter& from_;  // the embedding
  ModelUse use_;
};

}  // namespace resmem

#endif  // RESMEM_TRANSFORMER_PACKED_WEIGHTS_H_
