#include "onnx/runtime/token_runner.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <mutex>
#include <numeric>

#include "onnx/runtime/onnxruntime_api.h"
#include "support/parallel.h"
#include "support/text.h"

namespace resmem {
namespace {

// Whole numbers as a tensor of any type has them.
template <typename T>
std::vector<std::byte> As(std::span<const int64_t> values) {
  std::vector<std::byte> bytes(std::max<size_t>(values.size(), 1) * sizeof(T));
  for (size_t i = 0; i < values.size(); ++i) {
    const T value = static_cast<T>(values[i]);
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
  bytes.resize(values.size() * sizeof(T));
  return bytes;
}
std::vector<std::byte> BytesOf(int type, std::span<const int64_t> values) {
  switch (type) {
    case ort::kFloat:
      return As<float>(values);
    case ort::kInt32:
      return As<int32_t>(values);
    case ort::kBool:
      return As<bool>(values);
    default:
      return As<int64_t>(values);
  }
}

std::vector<int64_t> ValuesOf(TokenRole role, std::span<const int32_t> ids, int64_t before) {
  std::vector<int64_t> values(ids.size());
  switch (role) {
    case TokenRole::kIds:
      std::copy(ids.begin(), ids.end(), values.begin());
      break;
    case TokenRole::kMask:
      values.assign(ids.size() + static_cast<size_t>(before), 1);
      break;
    case TokenRole::kPositions:
      std::iota(values.begin(), values.end(), before);
      break;
    case TokenRole::kSwitch:
      values = {before > 0 ? 1 : 0};
      break;
    case TokenRole::kKept:
      values = {0};
      break;
    case TokenRole::kSegments:
    case TokenRole::kPast:
      break;
  }
  return values;
}

Status CheckIds(std::span<const int32_t> ids, const ModelManifest& manifest) {
  const auto length = static_cast<int64_t>(ids.size());
  if (length < 1 || length > manifest.context) {
    return {ErrorCode::kInvalidArgument,
            Text("has ", length, " tokens, the model takes 1 to ", manifest.context)};
  }
  const auto bad = std::find_if(ids.begin(), ids.end(),
                                [&](int32_t id) { return id < 0 || id >= manifest.classes; });
  if (bad == ids.end()) return {};
  return {ErrorCode::kInvalidArgument,
          Text("token ", bad - ids.begin(), " is ", *bad, ", the model's vocabulary has ",
               manifest.classes, "; were they made by another tokenizer?")};
}

// The last `wanted` positions of an output.
Result<std::span<const float>> LastValues(const std::string& name, const Session::Tensor& tensor,
                                          int64_t positions, int64_t columns, int64_t wanted) {
  RESMEM_ASSIGN_OR_RETURN(const int64_t found, ColumnsOfPositions(name, tensor, positions));
  if (found != columns) {
    return Status(ErrorCode::kMismatch, Text("tensor ", name, " has ", found,
                                             " values a position, "
                                             "the manifest says ",
                                             columns, "; prepare the model again"));
  }
  const std::span<const float> values(tensor.data() + (positions - wanted) * columns,
                                      static_cast<size_t>(wanted * columns));
  const auto bad =
      std::find_if(values.begin(), values.end(), [](float value) { return !std::isfinite(value); });
  if (bad == values.end()) return values;
  return Status(ErrorCode::kBadData,
                Text("position ", positions - wanted + (bad - values.begin()) / columns,
                     ": tensor ", name, " holds ", *bad, "; the model is broken"));
}

Status RunWindow(const Session& session, const ModelManifest& manifest, const TokenInputs& inputs,
                 int64_t window, std::span<const int32_t> ids,
                 const OnnxModel::TokenAnswer& answer) {
  RESMEM_RETURN_IF_ERROR(CheckIds(ids, manifest));
  const auto positions = static_cast<int64_t>(ids.size());
  const std::string names[] = {manifest.embedding, manifest.logits};
  RESMEM_ASSIGN_OR_RETURN(const std::vector<Session::Tensor> tensors,
                          RunIds(session, inputs, ids, names, nullptr));
  RESMEM_ASSIGN_OR_RETURN(const std::span<const float> keys,
                          LastValues(names[0], tensors[0], positions, manifest.dim, positions));
  RESMEM_ASSIGN_OR_RETURN(const std::span<const float> logits,
                          LastValues(names[1], tensors[1], positions, manifest.classes, positions));
  return answer(window, keys, logits);
}

}  // namespace

Result<int64_t> ColumnsOfPositions(const std::string& name, const Session::Tensor& tensor,
                                   int64_t positions) {
  const std::vector<int64_t>& shape = tensor.shape();
  int64_t vectors = 1;
  for (size_t i = 0; i + 1 < shape.size(); ++i) vectors *= shape[i];
  if (shape.size() >= 2 && vectors == positions && shape.back() > 0) return shape.back();
  std::string text;
  for (const int64_t side : shape) text += Text(text.empty() ? "" : " x ", side);
  return Status(ErrorCode::kUnsupported,
                Text("tensor ", name, " is ", text.empty() ? "a single number" : text, " for ",
                     positions, " tokens; choose one that holds a vector for each of them"));
}

Result<std::vector<Session::Tensor>> RunIds(const Session& session, const TokenInputs& inputs,
                                            std::span<const int32_t> ids,
                                            std::span<const std::string> names, PastTensors* past) {
  const int64_t before = past == nullptr ? 0 : past->tokens;
  const bool goes_on = before > 0;
  std::vector<std::vector<std::byte>> buffers(inputs.inputs.size());
  std::vector<Session::Tensor> made;
  std::vector<std::string> outputs(names.begin(), names.end());
  made.reserve(inputs.inputs.size());
  for (size_t i = 0; i < inputs.inputs.size(); ++i) {
    const NamedTokenInput& input = inputs.inputs[i];
    if (input.role == TokenRole::kPast && past != nullptr) outputs.push_back(input.present);
    if (input.role == TokenRole::kPast && goes_on) continue;
    std::vector<int64_t> shape = input.sides;
    if (input.role == TokenRole::kPast) {  // of no tokens
      std::replace(shape.begin(), shape.end(), int64_t{-1}, int64_t{0});
      buffers[i].reserve(1);
    } else {
      const std::vector<int64_t> values = ValuesOf(input.role, ids, before);
      buffers[i] = BytesOf(input.type, values);
      std::fill(shape.begin(), shape.end(), 1);
      if (!shape.empty()) shape.back() = std::ssize(values);
    }
    RESMEM_ASSIGN_OR_RETURN(Session::Tensor tensor, session.Wrap(buffers[i], input.type, shape));
    made.push_back(std::move(tensor));
  }
  std::vector<Session::Feed> feeds;
  size_t next = 0, next_past = 0;
  for (const NamedTokenInput& input : inputs.inputs) {
    const bool kept = input.role == TokenRole::kPast && goes_on;
    feeds.push_back({input.name, kept ? past->tensors[next_past++] : made[next++]});
  }
  RESMEM_ASSIGN_OR_RETURN(std::vector<Session::Tensor> tensors,
                          session.Run(feeds, outputs, names.size()));
  if (past == nullptr) return tensors;
  std::vector<Session::Tensor> answers, kept;
  for (size_t i = 0; i < tensors.size(); ++i) {
    (i < names.size() ? answers : kept).push_back(std::move(tensors[i]));
  }
  past->tensors = std::move(kept);
  past->tokens = before + std::ssize(ids);
  return answers;
}

Status RunOnTokens(const Session& session, const ModelManifest& manifest, const TokenInputs& inputs,
                   std::span<const int32_t> ids, PastTensors* past, std::span<float> key,
                   std::span<float> logits) {
  RESMEM_RETURN_IF_ERROR(CheckIds(ids, manifest));
  const auto positions = static_cast<int64_t>(ids.size());
  if (past->tokens + positions > manifest.context) {
    return {ErrorCode::kInvalidArgument, Text(past->tokens, " tokens and ", positions,
                                              " more, the model takes at most ", manifest.context)};
  }
  const std::string names[] = {manifest.embedding, manifest.logits};
  RESMEM_ASSIGN_OR_RETURN(const std::vector<Session::Tensor> tensors,
                          RunIds(session, inputs, ids, names, past));
  RESMEM_ASSIGN_OR_RETURN(const std::span<const float> last_key,
                          LastValues(names[0], tensors[0], positions, manifest.dim, 1));
  RESMEM_ASSIGN_OR_RETURN(const std::span<const float> last_logits,
                          LastValues(names[1], tensors[1], positions, manifest.classes, 1));
  std::copy(last_key.begin(), last_key.end(), key.begin());
  std::copy(last_logits.begin(), last_logits.end(), logits.begin());
  return {};
}

Status RunTokenWindows(const Session& session, const ModelManifest& manifest,
                       const TokenInputs& inputs, int threads,
                       std::span<const std::span<const int32_t>> windows,
                       const OnnxModel::TokenAnswer& answer) {
  const auto count = static_cast<int64_t>(windows.size());
  std::mutex mutex;
  std::atomic<int64_t> failed = count;  // the first window that failed, whoever ran it
  Status status;
  ParallelFor(threads, count, 1, [&](int64_t window, int64_t, int) {
    if (window > failed) return;
    const Status found =
        RunWindow(session, manifest, inputs, window, windows[static_cast<size_t>(window)], answer);
    if (found.ok()) return;
    const std::lock_guard<std::mutex> lock(mutex);
    if (window >= failed) return;
    failed = window;
    status = found.code() == ErrorCode::kCancelled
                 ? found
                 : Status(found.code(), Text("window ", window, ": ", found.message()));
  });
  return status;
}

}  // namespace resmem
