// The graph that a language model is exported as, and where its numbers lie in it.
#ifndef RESMEM_TRANSFORMER_ONNX_GRAPH_H_
#define RESMEM_TRANSFORMER_ONNX_GRAPH_H_

#include <onnx/onnx_pb.h>

#include <span>
#include <vector>

#include "transformer/shape.h"

namespace resmem {

inline constexpr char kTokensInput[] = "ids";
inline constexpr char kTokensEmbedding[] = "embedding";
inline constexpr char kTokensLogits[] = "logits";

// How a tensor of float32 numbers follows from the parameters, and these from it.
struct GraphTensor {
  enum class Kind {
    kAsItIs,   // times `scale`
    kTurned,   // `rows` rows of the matrix from first_row on, transposed
    kBias,     // by distance: context x heads, and a row that hides what lies ahead
    kEpsilon,  // of the norms
  };
  Kind kind = Kind::kEpsilon;
  Parameter parameter = {};
  int64_t first_row = 0, rows = 0;  // of a bias: the context
  float scale = 1;

  int64_t size() const;
  // `values`: all parameters; `out`: size() numbers.
  void Store(std::span<const float> values, float* out) const;
  // The other way.  False where the tensor cannot have come from parameters.
  bool Load(std::span<const float> tensor, std::span<float> values) const;
};

// The graph, its float32 tensors without data; they lie in the order of `tensors`.
struct LanguageModelGraph {
  LanguageModelGraph(const LanguageModelShape& shape, const ParameterLayout& layout,
                     int64_t context);

  onnx::ModelProto model;
  std::vector<GraphTensor> tensors;
};

}  // namespace resmem

#endif  // RESMEM_TRANSFORMER_ONNX_GRAPH_H_
