// Tokens through a session: windows, one at a time on each thread, or a text that goes on.
#ifndef RESMEM_ONNX_RUNTIME_TOKEN_RUNNER_H_
#define RESMEM_ONNX_RUNTIME_TOKEN_RUNNER_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "onnx/runtime/session.h"
#include "onnx/runtime/token_inputs.h"
#include "resmem/models/onnx_model.h"

namespace resmem {

// What a graph has computed of the tokens before.
struct PastTensors {
  std::vector<Session::Tensor> tensors;  // as TokenInputs has them; empty: nothing
  int64_t tokens = 0;
};

// `names`: outputs that hold float32 numbers, position after position.  `past` may be null: then
// `ids` begin a text.  Else they follow what it holds, and it becomes theirs.
Result<std::vector<Session::Tensor>> RunIds(const Session& session, const TokenInputs& inputs,
                                            std::span<const int32_t> ids,
                                            std::span<const std::string> names, PastTensors* past);

// Numbers for each position; kUnsupported where the tensor holds no vector for each.
Result<int64_t> ColumnsOfPositions(const std::string& name, const Session::Tensor& tensor,
                                   int64_t positions);

// As OnnxModel::RunTokens().
Status RunTokenWindows(const Session& session, const ModelManifest& manifest,
                       const TokenInputs& inputs, int threads,
                       std::span<const std::span<const int32_t>> windows,
                       const OnnxModel::TokenAnswer& answer);
// As OnnxModel::RunOn().
Status RunOnTokens(const Session& session, const ModelManifest& manifest, const TokenInputs& inputs,
                   std::span<const int32_t> ids, PastTensors* past, std::span<float> key,
                   std::span<float> logits);

}  // namespace resmem

#endif  // RESMEM_ONNX_RUNTIME_TOKEN_RUNNER_H_
