#include "onnx/runtime/batch_runner.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <mutex>
#include <utility>

#include "support/parallel.h"
#include "support/text.h"

namespace resmem {
namespace {

std::string ShapeText(std::span<const int64_t> shape) {
  std::string text;
  for (const int64_t side : shape) text += Text(text.empty() ? "" : " x ", side);
  return text.empty() ? "a single number" : text;
}

}  // namespace

Result<int64_t> ColumnsOf(const std::string& name, std::span<const int64_t> shape, int64_t rows) {
  const bool vectors =
      shape.size() >= 2 && shape[0] == rows && shape[1] > 0 &&
      std::all_of(shape.begin() + 2, shape.end(), [](int64_t side) { return side == 1; });
  if (vectors) return shape[1];
  return Status(ErrorCode::kUnsupported,
                Text("tensor ", name, " is ", ShapeText(shape), " for ", rows,
                     " rows; choose one that holds a vector a row, behind pooling or flattening"));
}

std::vector<int64_t> InputShape(const ModelManifest& manifest, int64_t rows) {
  if (!manifest.takes_images()) return {rows, manifest.input_values()};
  return {rows, manifest.channels, manifest.height, manifest.width};
}

int64_t RowsOfBatch(const ModelManifest& manifest, int64_t fixed) {
  if (fixed > 0) return fixed;
  constexpr int64_t kValues = int64_t{1} << 19;
  const int64_t rows = std::clamp<int64_t>(kValues / manifest.input_values(), 1, 32);
  return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(rows)));
}

BatchRunner::BatchRunner(Session session, const ModelManifest& manifest, int64_t fixed, int threads)
    : session_(std::move(session)),
      manifest_(manifest),
      fixed_(fixed > 0),
      batch_(RowsOfBatch(manifest, fixed)),
      threads_(ResolveThreads(threads)) {}

Status BatchRunner::RunBatch(int64_t begin, int64_t rows, std::span<float> input,
                             std::span<const Wanted> wanted) const {
  std::vector<std::string> names;
  for (const Wanted& output : wanted) names.push_back(output.name);
  const int64_t run_rows = fixed_ ? batch_ : rows;
  const std::vector<int64_t> shape = InputShape(manifest_, run_rows);
  RESMEM_ASSIGN_OR_RETURN(const std::vector<Session::Tensor> tensors,
                          session_.Run(manifest_.input, input, shape, names));
  for (size_t i = 0; i < wanted.size(); ++i) {
    const Wanted& output = wanted[i];
    RESMEM_ASSIGN_OR_RETURN(const int64_t columns,
                            ColumnsOf(output.name, tensors[i].shape(), run_rows));
    if (columns != output.columns) {
      return Status(ErrorCode::kMismatch,
                    Text("tensor ", output.name, " has ", columns, " values a row, the manifest ",
                         "says ", output.columns, "; prepare the model again"));
    }
    const std::span<const float> values(tensors[i].data(), static_cast<size_t>(rows * columns));
    const auto bad = std::find_if(values.begin(), values.end(),
                                  [](float value) { return !std::isfinite(value); });
    if (bad != values.end()) {
      return Status(ErrorCode::kBadData,
                    Text("row ", begin + (bad - values.begin()) / columns, ": tensor ", output.name,
                         " holds ", *bad, "; the model does not cope with this input"));
    }
    std::copy(values.begin(), values.end(), output.out.begin() + begin * columns);
  }
  return {};
}

Status BatchRunner::Run(int64_t count, const Fill& fill, std::span<float> keys,
                        std::span<float> logits) const {
  std::vector<Wanted> wanted;
  if (!keys.empty()) wanted.push_back({manifest_.embedding, manifest_.dim, keys});
  if (!logits.empty()) wanted.push_back({manifest_.logits, manifest_.classes, logits});
  if (wanted.empty()) return {};
  const int64_t batches = (count + batch_ - 1) / batch_;
  const int64_t values = manifest_.input_values();
  std::vector<std::vector<float>> inputs(static_cast<size_t>(threads_));
  std::mutex mutex;
  int64_t failed = batches;  // the first batch that failed, whoever ran it
  Status status;
  ParallelFor(threads_, batches, 1, [&](int64_t batch, int64_t, int worker) {
    const int64_t begin = batch * batch_;
    const int64_t rows = std::min(batch_, count - begin);
    std::vector<float>& input = inputs[static_cast<size_t>(worker)];
    input.resize(static_cast<size_t>((fixed_ ? batch_ : rows) * values));
    fill(begin, rows, input.data());
    std::fill(input.begin() + rows * values, input.end(), 0.0f);
    const Status found = RunBatch(begin, rows, input, wanted);
    const std::lock_guard<std::mutex> lock(mutex);
    if (found.ok() || batch >= failed) return;
    failed = batch;
    status = found;
  });
  return status;
}

}  // namespace resmem
