#include "resmem/lm/token_model.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "support/guard.h"
#include "support/text.h"
#include "transformer/onnx_import.h"
#include "transformer/transformer_runner.h"

namespace resmem {
namespace {

constexpr TokenEngine kEngines[] = {TokenEngine::kAuto, TokenEngine::kNative,
                                    TokenEngine::kOnnxRuntime};

Status CheckWindow(const TokenInput& window, const ModelManifest& manifest) {
  const int64_t length = std::ssize(window.ids);
  if (length < 1 || length > manifest.context) {
    return {ErrorCode::kInvalidArgument,
            Text("has ", length, " tokens, the model takes 1 to ", manifest.context)};
  }
  if (window.wanted < 0 || window.wanted > length) {
    return {ErrorCode::kInvalidArgument,
            Text(window.wanted, " of its ", length, " positions are wanted")};
  }
  const auto bad = std::ranges::find_if(
      window.ids, [&](int32_t id) { return id < 0 || id >= manifest.classes; });
  if (bad == window.ids.end()) return {};
  return {ErrorCode::kInvalidArgument,
          Text("token ", bad - window.ids.begin(), " is ", *bad, ", the model's vocabulary has ",
               manifest.classes, "; were they made by another tokenizer?")};
}

}  // namespace

const char* TokenEngineName(TokenEngine engine) {
  switch (engine) {
    case TokenEngine::kAuto:
      return "auto";
    case TokenEngine::kNative:
      return "native";
    case TokenEngine::kOnnxRuntime:
      return "onnxruntime";
  }
  return "unknown";
}

TokenEngine ParseTokenEngine(std::string_view name) {
  const auto found = std::ranges::find(kEngines, name, TokenEngineName);
  return found == std::end(kEngines) ? TokenEngine::kAuto : *found;
}

struct TokenModel::Impl {
  std::string path;
  ModelManifest manifest;
  Fingerprint fingerprint;
  std::unique_ptr<TransformerRunner> native;
  std::optional<OnnxModel> runtime;  // where `native` is not there

  Status Check(std::span<const TokenInput> windows, size_t keys, size_t logits) const {
    int64_t rows = 0;
    for (size_t w = 0; w < windows.size(); ++w) {
      const Status status = CheckWindow(windows[w], manifest);
      if (!status.ok()) {
        return {status.code(), Text(path, ": window ", w, ": ", status.message())};
      }
      rows += windows[w].wanted;
    }
    if (std::cmp_equal(keys, rows * manifest.dim) &&
        std::cmp_equal(logits, rows * manifest.classes)) {
      return {};
    }
    return {ErrorCode::kInvalidArgument, Text("room for ", keys, " values of keys and ", logits,
                                              " logits was given for ", rows, " positions")};
  }

  Status RunByRuntime(std::span<const TokenInput> windows, float* keys, float* logits) const {
    std::vector<std::span<const int32_t>> ids;
    std::vector<int64_t> first = {0};
    for (const TokenInput& window : windows) {
      ids.push_back(window.ids);
      first.push_back(first.back() + window.wanted);
    }
    return runtime->RunTokens(ids, [&](int64_t index, std::span<const float> window_keys,
                                       std::span<const float> window_logits) {
      const auto w = static_cast<size_t>(index);
      const auto wanted = static_cast<size_t>(windows[w].wanted);
      std::ranges::copy(window_keys.last(wanted * static_cast<size_t>(manifest.dim)),
                        keys + first[w] * manifest.dim);
      std::ranges::copy(window_logits.last(wanted * static_cast<size_t>(manifest.classes)),
                        logits + first[w] * manifest.classes);
      return Status();
    });
  }
};

TokenModel::TokenModel(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TokenModel::TokenModel(TokenModel&&) noexcept = default;
TokenModel& TokenModel::operator=(TokenModel&&) noexcept = default;
TokenModel::~TokenModel() = default;

const ModelManifest& TokenModel::manifest() const {
  return impl_->manifest;
}
const Fingerprint& TokenModel::fingerprint() const {
  return impl_->fingerprint;
}
TokenEngine TokenModel::engine() const {
  return impl_->native != nullptr ? TokenEngine::kNative : TokenEngine::kOnnxRuntime;
}

Result<TokenModel> TokenModel::Open(const std::string& onnx_path, TokenEngine engine,
                                    const OnnxOptions& options) try {
  auto impl = std::make_unique<Impl>();
  impl->path = onnx_path;
  if (engine != TokenEngine::kOnnxRuntime) {
    RESMEM_ASSIGN_OR_RETURN(impl->manifest, ReadModelManifest(onnx_path));
    auto trained = ImportLanguageModel(onnx_path, impl->manifest);
    if (trained.ok()) {
      RESMEM_ASSIGN_OR_RETURN(impl->fingerprint, FingerprintModel(onnx_path));
      impl->native = std::make_unique<TransformerRunner>(trained->shape, std::move(trained->values),
                                                         impl->manifest.context, options.threads);
      return TokenModel(std::move(impl));
    }
    if (engine == TokenEngine::kNative || trained.status().code() != ErrorCode::kUnsupported) {
      return trained.status();
    }
  }
  RESMEM_ASSIGN_OR_RETURN(impl->runtime, OnnxModel::Open(onnx_path, options));
  impl->manifest = impl->runtime->manifest();
  impl->fingerprint = impl->runtime->fingerprint();
  return TokenModel(std::move(impl));
} catch (...) {
  return CaughtException("open a language model");
}

Status TokenModel::Run(std::span<const TokenInput> windows, std::span<float> keys,
                       std::span<float> logits) const try {
  if (!impl_->manifest.takes_tokens()) {
    return {ErrorCode::kInvalidArgument, Text(impl_->path, ": is not a model of tokens")};
  }
  RESMEM_RETURN_IF_ERROR(impl_->Check(windows, keys.size(), logits.size()));
  if (impl_->native == nullptr) return impl_->RunByRuntime(windows, keys.data(), logits.data());
  impl_->native->Run(windows, keys.data(), logits.data());
  return {};
} catch (...) {
  return CaughtException("run a language model");
}

bool TokenStream::keeps_past() const {
  return model_->impl_->runtime && model_->impl_->runtime->keeps_past();
}

Status TokenStream::Append(std::span<const int32_t> ids, std::span<float> key,
                           std::span<float> logits) try {
  const auto context = static_cast<size_t>(model_->manifest().context);
  ids_.insert(ids_.end(), ids.begin(), ids.end());
  if (!keeps_past()) {
    const TokenInput window{std::span(ids_).last(std::min(ids_.size(), context)), 1};
    return model_->Run(std::span(&window, 1), key, logits);
  }
  std::span<const int32_t> next = std::span(ids_).last(ids.size());
  if (static_cast<size_t>(past_.tokens()) + ids.size() > context) {
    past_ = TokenPast();
    const size_t kept = ids_.size() <= context ? ids_.size() : std::max<size_t>(1, context / 4 * 3);
    next = std::span(ids_).last(kept);
  }
  return model_->impl_->runtime->RunOn(next, &past_, key, logits);
} catch (...) {
  return CaughtException("run a language model");
}

}  // namespace resmem
