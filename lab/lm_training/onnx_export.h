// A trained language model as an ONNX file.
#ifndef RESMEM_LAB_LM_TRAINING_ONNX_EXPORT_H_
#define RESMEM_LAB_LM_TRAINING_ONNX_EXPORT_H_

#include <span>
#include <string>

#include "resmem/status.h"
#include "transformer/onnx_graph.h"
#include "transformer/shape.h"

namespace resmem {

// ids (int64, windows x positions, both open, at most `context` positions) -> embedding, the input
// of the last layer's MLP after its norm, and logits, in float32.  Written atomically.
Status ExportLanguageModel(const std::string& path, const LanguageModelShape& shape,
                           const ParameterLayout& layout, std::span<const float> values,
                           int64_t context);

}  // namespace resmem

#endif  // RESMEM_LAB_LM_TRAINING_ONNX_EXPORT_H_
