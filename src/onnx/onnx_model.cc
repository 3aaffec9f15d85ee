#include "resmem/models/onnx_model.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <utility>

#include "format/checksum.h"
#include "onnx/graph/graph_file.h"
#include "onnx/graph/tensor_data.h"
#include "onnx/graph_fit.h"
#include "onnx/manifest_json.h"
#include "onnx/pixels.h"
#include "onnx/runtime/batch_runner.h"
#include "onnx/runtime/token_runner.h"
#include "support/checked_math.h"
#include "support/file_system.h"
#include "support/guard.h"
#include "support/text.h"

namespace resmem {
namespace {

// Gives how the graph is fed.
Result<GraphFit> CheckGraph(const std::string& path, std::span<const std::byte> bytes,
                            const ModelManifest& manifest) {
  RESMEM_ASSIGN_OR_RETURN(const GraphModel model, ParseGraph(path, bytes));
  bool external = false;
  VisitTensors(*model, [&](const onnx::TensorProto& tensor) { external |= IsExternal(tensor); });
  if (external) {
    return Status(ErrorCode::kUnsupported,
                  Text(path,
                       ": keeps data in other files, and its fingerprint would not cover them; "
                       "take them in with: resmem model prepare"));
  }
  auto fit = CheckFit(GraphIndex(model->graph()), manifest);
  if (fit.ok()) return fit;
  return Status(fit.status().code(), Text(path, ": ", fit.status().message()));
}

Status CheckSize(const char* what, size_t found, int64_t rows, int64_t columns, bool optional) {
  const auto needed = CheckedMultiply(rows, columns);
  if ((optional && found == 0) || (needed && static_cast<uint64_t>(*needed) == found)) return {};
  return {ErrorCode::kInvalidArgument, Text(what, " has room for ", found, " values, ", rows,
                                            " rows of ", columns, " are needed")};
}

}  // namespace

struct OnnxModel::Impl {
  std::string path;
  ModelManifest manifest;
  Fingerprint fingerprint;
  PixelTable pixels;
  BatchRunner runner;
  TokenInputs tokens;  // of a language model

  Status Run(int64_t count, const BatchRunner::Fill& fill, std::span<float> keys,
             std::span<float> logits) const {
    RESMEM_RETURN_IF_ERROR(CheckSize("keys", keys.size(), count, manifest.dim, true));
    RESMEM_RETURN_IF_ERROR(CheckSize("logits", logits.size(), count, manifest.classes, true));
    const Status status = runner.Run(count, fill, keys, logits);
    return status.ok() ? status : Status(status.code(), Text(path, ": ", status.message()));
  }
};

OnnxModel::OnnxModel(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
OnnxModel::OnnxModel(OnnxModel&&) noexcept = default;
OnnxModel& OnnxModel::operator=(OnnxModel&&) noexcept = default;
OnnxModel::~OnnxModel() = default;

const ModelManifest& OnnxModel::manifest() const {
  return impl_->manifest;
}
const Fingerprint& OnnxModel::fingerprint() const {
  return impl_->fingerprint;
}

Result<OnnxModel> OnnxModel::Open(const std::string& onnx_path, const OnnxOptions& options) try {
  RESMEM_ASSIGN_OR_RETURN(const MappedFile file, FileSystem::Posix().Map(onnx_path));
  RESMEM_ASSIGN_OR_RETURN(ModelManifest manifest, ReadModelManifest(onnx_path));
  RESMEM_ASSIGN_OR_RETURN(GraphFit fit, CheckGraph(onnx_path, file.bytes(), manifest));
  RESMEM_ASSIGN_OR_RETURN(const Runtime* runtime, Runtime::Load(options.library));
  auto session = Session::Create(*runtime, file.bytes());
  if (!session.ok()) {
    return Status(session.status().code(), Text(onnx_path, ": ", session.status().message()));
  }
  Fingerprint fingerprint = FingerprintOf(Digest(file.bytes()), manifest);
  PixelTable pixels(manifest);
  BatchRunner runner(std::move(session).value(), manifest, fit.rows, options.threads);
  return OnnxModel(
      std::unique_ptr<Impl>(new Impl{onnx_path, std::move(manifest), std::move(fingerprint),
                                     std::move(pixels), std::move(runner), std::move(fit.tokens)}));
} catch (...) {
  return CaughtException("open a model");
}

Status OnnxModel::Run(std::span<const uint8_t> pixels, int64_t count, std::span<float> keys,
                      std::span<float> logits) const try {
  if (!manifest().takes_images()) {
    return {ErrorCode::kInvalidArgument,
            Text(impl_->path, ": takes ",
                 manifest().takes_tokens() ? std::string("tokens")
                                           : Text("rows of ", manifest().columns, " numbers"),
                 ", not images")};
  }
  const int64_t values = manifest().input_values();
  RESMEM_RETURN_IF_ERROR(CheckSize("pixels", pixels.size(), count, values, false));
  const auto fill = [&](int64_t begin, int64_t rows, float* input) {
    impl_->pixels.Normalize(pixels.data() + begin * values, rows, input);
  };
  return impl_->Run(count, fill, keys, logits);
} catch (...) {
  return CaughtException("run a model");
}

Status OnnxModel::RunFloats(MatrixView inputs, std::span<float> keys, std::span<float> logits) const
    try {
  if (manifest().takes_tokens()) {
    return {ErrorCode::kInvalidArgument, Text(impl_->path, ": takes tokens, not numbers")};
  }
  if (inputs.columns != manifest().input_values()) {
    return {ErrorCode::kMismatch, Text(impl_->path, ": takes rows of ", manifest().input_values(),
                                       " numbers, these have ", inputs.columns)};
  }
  const auto fill = [&](int64_t begin, int64_t rows, float* input) {
    for (int64_t row = begin; row < begin + rows; ++row, input += inputs.columns) {
      std::copy_n(inputs.row(row), inputs.columns, input);
    }
  };
  return impl_->Run(inputs.rows, fill, keys, logits);
} catch (...) {
  return CaughtException("run a model");
}

Status OnnxModel::RunTokens(std::span<const std::span<const int32_t>> windows,
                            const TokenAnswer& answer) const try {
  if (!manifest().takes_tokens()) {
    return {ErrorCode::kInvalidArgument, Text(impl_->path, ": is not a model of tokens")};
  }
  const Status status = RunTokenWindows(impl_->runner.session(), manifest(), impl_->tokens,
                                        impl_->runner.threads(), windows, answer);
  return status.ok() ? status : Status(status.code(), Text(impl_->path, ": ", status.message()));
} catch (...) {
  return CaughtException("run a model");
}

struct TokenPast::State {
  PastTensors past;
};
TokenPast::TokenPast() : state_(std::make_unique<State>()) {}
TokenPast::TokenPast(TokenPast&&) noexcept = default;
TokenPast& TokenPast::operator=(TokenPast&&) noexcept = default;
TokenPast::~TokenPast() = default;
int64_t TokenPast::tokens() const {
  return state_->past.tokens;
}

bool OnnxModel::keeps_past() const {
  return impl_->tokens.keeps_past();
}

Status OnnxModel::RunOn(std::span<const int32_t> ids, TokenPast* past, std::span<float> key,
                        std::span<float> logits) const try {
  if (!keeps_past()) {
    return {ErrorCode::kUnsupported, Text(impl_->path, ": keeps nothing of earlier tokens")};
  }
  RESMEM_RETURN_IF_ERROR(CheckSize("key", key.size(), 1, manifest().dim, false));
  RESMEM_RETURN_IF_ERROR(CheckSize("logits", logits.size(), 1, manifest().classes, false));
  const Status status = RunOnTokens(impl_->runner.session(), manifest(), impl_->tokens, ids,
                                    &past->state_->past, key, logits);
  return status.ok() ? status : Status(status.code(), Text(impl_->path, ": ", status.message()));
} catch (...) {
  return CaughtException("run a model");
}

}  // namespace resmem
