// Windows of tokens through a session, one at a time on each thread.
#ifndef RESMEM_ONNX_RUNTIME_TOKEN_RUNNER_H_
#define RESMEM_ONNX_RUNTIME_TOKEN_RUNNER_H_

#include <cstdint>
#include <span>

#include "onnx/runtime/session.h"
#include "resmem/models/onnx_model.h"

namespace resmem {

// As OnnxModel::RunTokens().
Status RunTokenWindows(const Session& session, const ModelManifest& manifest, int threads,
                       std::span<const std::span<const int32_t>> windows,
                       const OnnxModel::TokenAnswer& answer);

}  // namespace resmem

#endif  // RESMEM_ONNX_RUNTIME_TOKEN_RUNNER_H_
