#include "onnx/runtime/token_runner.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <string>
#include <vector>

#include "support/parallel.h"
#include "support/text.h"

namespace resmem {
namespace {

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

Status CheckValues(const std::string& name, const Session::Tensor& tensor, int64_t positions,
                   int64_t columns) {
  if (tensor.shape() != std::vector<int64_t>{1, positions, columns}) {
    return {ErrorCode::kMismatch, Text("tensor ", name, " is not 1 x ", positions, " x ", columns,
                                       " as the manifest says; export the model again")};
  }
  const std::span<const float> values(tensor.data(), static_cast<size_t>(positions * columns));
  const auto bad =
      std::find_if(values.begin(), values.end(), [](float value) { return !std::isfinite(value); });
  if (bad == values.end()) return {};
  return {ErrorCode::kBadData, Text("position ", (bad - values.begin()) / columns, ": tensor ",
                                    name, " holds ", *bad, "; the model is broken")};
}

Status RunWindow(const Session& session, const ModelManifest& manifest, int64_t window,
                 std::span<const int32_t> ids, const OnnxModel::TokenAnswer& answer) {
  RESMEM_RETURN_IF_ERROR(CheckIds(ids, manifest));
  const auto positions = static_cast<int64_t>(ids.size());
  std::vector<int64_t> input(ids.begin(), ids.end());
  const int64_t shape[] = {1, positions};
  const std::string names[] = {manifest.embedding, manifest.logits};
  RESMEM_ASSIGN_OR_RETURN(const std::vector<Session::Tensor> tensors,
                          session.Run(manifest.input, std::span(input), shape, names));
  RESMEM_RETURN_IF_ERROR(CheckValues(names[0], tensors[0], positions, manifest.dim));
  RESMEM_RETURN_IF_ERROR(CheckValues(names[1], tensors[1], positions, manifest.classes));
  return answer(window, std::span(tensors[0].data(), static_cast<size_t>(positions * manifest.dim)),
                std::span(tensors[1].data(), static_cast<size_t>(positions * manifest.classes)));
}

}  // namespace

Status RunTokenWindows(const Session& session, const ModelManifest& manifest, int threads,
                       std::span<const std::span<const int32_t>> windows,
                       const OnnxModel::TokenAnswer& answer) {
  const auto count = static_cast<int64_t>(windows.size());
  std::mutex mutex;
  std::atomic<int64_t> failed = count;  // the first window that failed, whoever ran it
  Status status;
  ParallelFor(threads, count, 1, [&](int64_t window, int64_t, int) {
    if (window > failed) return;
    const Status found =
        RunWindow(session, manifest, window, windows[static_cast<size_t>(window)], answer);
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
