// A trained language model as an ONNX file.
#ifndef RESMEM_TRANSFORMER_ONNX_EXPORT_H_
#define RESMEM_TRANSFORMER_ONNX_EXPORT_H_

#include <span>
#include <string>

#include "resmem/status.h"
#include "transformer/shape.h"

namespace resmem {

inline constexpr char kTokensInput[] = "ids";
inline constexpr char kTokensEmbedding[] = "embedding";
inline constexpr char kTokensLogits[] = "logits";

// ids (int64, windows x positions, both open, at most `context` positions) -> embedding, the input
// of the last layer's MLP after its norm, and logits, in float32.  Written atomically.
Status ExportLanguageModel(const std::string& path, const LanguageModelShape& shape,
                           const ParameterLayout& layout, std::span<const float> values,
                           int64_t context);

}  // namespace resmem

#endif  // RESMEM_TRANSFORMER_ONNX_EXPORT_H_
