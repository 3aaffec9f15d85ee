#include "base_model/standardizer.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "support/parallel.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr int64_t kColumnsAPiece = 64;  // whole cache lines of each row
constexpr int64_t kRowsAtOnce = 256;

}  // namespace

void Standardizer::Apply(const float* input, float* out) const {
  const int64_t n = columns();
  for (int64_t i = 0; i < n; ++i) {
    const float value = (input[i] - mean[i]) * scale[i];
    out[i] = std::min(std::max(value, -kStandardLimit), kStandardLimit);
  }
}

Standardizer FitStandardizer(MatrixView inputs, std::span<const int64_t> rows, int threads) {
  Standardizer result;
  result.mean.resize(static_cast<size_t>(inputs.columns));
  result.scale.resize(static_cast<size_t>(inputs.columns));
  const double count = static_cast<double>(rows.size());
  ParallelFor(threads, inputs.columns, kColumnsAPiece, [&](int64_t begin, int64_t end, int) {
    double sums[kColumnsAPiece] = {}, squares[kColumnsAPiece] = {};
    for (const int64_t row : rows) {
      const float* values = inputs.row(row);
      for (int64_t c = begin; c < end; ++c) sums[c - begin] += values[c];
    }
    for (int64_t c = begin; c < end; ++c) {
      result.mean[c] = static_cast<float>(sums[c - begin] / count);
    }
    for (const int64_t row : rows) {
      const float* values = inputs.row(row);
      for (int64_t c = begin; c < end; ++c) {
        const double difference = static_cast<double>(values[c]) - result.mean[c];
        squares[c - begin] += difference * difference;
      }
    }
    for (int64_t c = begin; c < end; ++c) {
      const float scale = static_cast<float>(1.0 / std::sqrt(squares[c - begin] / count));
      // A deviation of nothing, or so small that its inverse is no float, counts as constant.
      result.scale[c] = std::isfinite(scale) ? scale : 0.0f;
    }
  });
  return result;
}

Status CheckInputsFinite(MatrixView inputs, int threads) {
  std::atomic<int64_t> first_bad{inputs.rows};
  ParallelFor(threads, inputs.rows, kRowsAtOnce, [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end && row < first_bad.load(); ++row) {
      const float* values = inputs.row(row);
      if (std::all_of(values, values + inputs.columns, [](float x) { return std::isfinite(x); })) {
        continue;
      }
      int64_t known = first_bad.load();
      while (row < known && !first_bad.compare_exchange_weak(known, row)) {
      }
    }
  });
  if (first_bad == inputs.rows) return Status();
  const float* values = inputs.row(first_bad);
  const int64_t column =
      std::find_if(values, values + inputs.columns, [](float x) { return !std::isfinite(x); }) -
      values;
  return Status(ErrorCode::kBadData,
                Text("inputs: row ", first_bad, ", column ", column, " is ", values[column],
                     ", but every value must be finite; remove or impute such rows"));
}

}  // namespace resmem
