#include "memory/keys/key_transformer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "search/search_request.h"
#include "support/guard.h"
#include "support/parallel.h"

namespace resmem {
namespace {

// Rows that share one pass over the matrix.
constexpr int64_t kTogether = 4;

// sums: kTogether x dim.  Each sum runs over the key's values in their order, whatever the row's
// company, so that batches do not change bits.
void MultiplyRows(const float* const (&keys)[kTogether], const float* matrix, int64_t dim,
                  double* sums) {
  std::fill_n(sums, kTogether * dim, 0.0);
  double* const sum0 = sums;
  double* const sum1 = sums + dim;
  double* const sum2 = sums + 2 * dim;
  double* const sum3 = sums + 3 * dim;
  for (int64_t j = 0; j < dim; ++j) {
    const double value0 = keys[0][j], value1 = keys[1][j], value2 = keys[2][j], value3 = keys[3][j];
    const float* const line = matrix + j * dim;
    for (int64_t i = j; i < dim; ++i) {
      const double entry = line[i];
      sum0[i] += value0 * entry;
      sum1[i] += value1 * entry;
      sum2[i] += value2 * entry;
      sum3[i] += value3 * entry;
    }
  }
}

double Length(const float* key, int64_t dim) {
  double squares = 0;
  for (int64_t i = 0; i < dim; ++i) squares += static_cast<double>(key[i]) * key[i];
  return std::sqrt(squares);
}

}  // namespace

KeyTransformer KeyTransformer::Unit(int64_t dim) {
  KeyTransformer transformer;
  transformer.kind_ = KeyTransform::kUnit;
  transformer.dim_ = dim;
  return transformer;
}

KeyTransformer KeyTransformer::Whiten(int64_t dim, std::shared_ptr<const float> matrix) {
  KeyTransformer transformer;
  transformer.kind_ = KeyTransform::kWhiten;
  transformer.dim_ = dim;
  transformer.matrix_ = std::move(matrix);
  return transformer;
}

bool KeyTransformer::CheckMatrix(std::span<const float> matrix, int64_t dim) {
  for (int64_t row = 0; row < dim; ++row) {
    const float* const line = matrix.data() + row * dim;
    if (!std::all_of(line, line + dim, [](float value) { return std::isfinite(value); }) ||
        !std::all_of(line, line + row, [](float value) { return value == 0; }) ||
        !(line[row] > 0)) {
      return false;
    }
  }
  return true;
}

void KeyTransformer::Apply(MatrixView keys, int threads, float* out, float* norms) const {
  const int workers = ResolveThreads(threads);
  if (kind_ == KeyTransform::kWhiten) {
    std::vector<std::vector<double>> scratch(static_cast<size_t>(workers));
    ParallelFor(workers, keys.rows, 4 * kTogether, [&](int64_t begin, int64_t end, int worker) {
      std::vector<double>& sums = scratch[static_cast<size_t>(worker)];
      sums.resize(static_cast<size_t>(kTogether * dim_));
      for (int64_t row = begin; row < end; row += kTogether) {
        const int64_t last = std::min(row + kTogether, end) - 1;
        const float* together[kTogether];
        for (int64_t i = 0; i < kTogether; ++i) together[i] = keys.row(std::min(row + i, last));
        MultiplyRows(together, matrix_.get(), dim_, sums.data());
        for (int64_t i = 0; i < (last - row + 1) * dim_; ++i) {
          out[row * dim_ + i] = static_cast<float>(sums[static_cast<size_t>(i)]);
        }
      }
    });
    return;
  }
  ParallelFor(workers, keys.rows, 256, [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) {
      const float* const key = keys.row(row);
      float* const to = out + row * keys.columns;
      if (kind_ == KeyTransform::kNone) {
        std::copy_n(key, keys.columns, to);
        continue;
      }
      const double length = Length(key, dim_);
      // A key of length 0 has no direction: it stays as it is.
      const double divisor = length > 0 ? length : 1;
      for (int64_t i = 0; i < dim_; ++i) to[i] = static_cast<float>(key[i] / divisor);
      if (norms != nullptr) {
        constexpr double kLargest = std::numeric_limits<float>::max();
        norms[row] = static_cast<float>(std::min(length, kLargest));
      }
    }
  });
}

MatrixView KeyTransformer::Applied(MatrixView keys, int threads,
                                   std::vector<float>* storage) const {
  if (kind_ == KeyTransform::kNone) return keys;
  storage->resize(static_cast<size_t>(keys.rows * keys.columns));
  Apply(keys, threads, storage->data());
  return {storage->data(), keys.rows, keys.columns};
}

void KeyTransformer::Undo(const float* stored, float norm, float* key) const {
  if (kind_ == KeyTransform::kNone) return;
  if (kind_ == KeyTransform::kUnit) {
    for (int64_t i = 0; i < dim_; ++i) key[i] = stored[i] * norm;
    return;
  }
  // key x matrix = stored, the matrix upper triangular: one value after the other.
  std::vector<double> rest(stored, stored + dim_);
  for (int64_t j = 0; j < dim_; ++j) {
    const float* const line = matrix_.get() + j * dim_;
    const double value = rest[static_cast<size_t>(j)] / line[j];
    for (int64_t i = j + 1; i < dim_; ++i) rest[static_cast<size_t>(i)] -= value * line[i];
    key[j] = static_cast<float>(value);
  }
}

Status TransformedIndex::Search(MatrixView queries, const SearchOptions& options,
                                Neighbors* out) const try {
  RESMEM_RETURN_IF_ERROR(CheckSearch(queries, options, dim(), rows()));
  std::vector<float> storage;
  return stored_.Search(transformer_.Applied(queries, options.threads, &storage), options, out);
} catch (...) {
  return CaughtException("transform the queries");
}

}  // namespace resmem
