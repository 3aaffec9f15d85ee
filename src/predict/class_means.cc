#include "predict/class_means.h"
#include "memory/memory_parts.h"

#include <algorithm>
#include <limits>

namespace resmem {

Result<std::unique_ptr<ClassMeans>> ClassMeans::Make(const ResidualMemory& memory) {
  const auto dim = static_cast<size_t>(memory.description().dim);
  const auto classes = static_cast<size_t>(memory.description().outputs);
  std::vector<double> sums(classes * dim);
  std::vector<int64_t> counts(classes);
  std::vector<float> key(dim);
  for (int64_t row = 0; row < memory.capacity(); ++row) {
    if (memory.deleted(row)) continue;
    MemoryParts::Rows(memory).DecodeKey(row, key);
    const auto label = static_cast<size_t>(memory.label(row));
    ++counts[label];
    for (size_t d = 0; d < dim; ++d) sums[label * dim + d] += key[d];
  }
  auto means = std::make_unique<ClassMeans>();
  means->transformer_ = MemoryParts::Rows(memory).transformer();
  means->classes_ = static_cast<int64_t>(classes);
  for (size_t c = 0; c < classes; ++c) {
    if (counts[c] == 0) continue;
    means->class_of_mean_.push_back(static_cast<int64_t>(c));
    for (size_t d = 0; d < dim; ++d) {
      means->means_.push_back(
          static_cast<float>(sums[c * dim + d] / static_cast<double>(counts[c])));
    }
  }
  if (means->class_of_mean_.empty()) return means;
  const KeyBlock block{KeyType::kFloat32, means->means_.data(), nullptr,
                       static_cast<int64_t>(means->class_of_mean_.size())};
  RESMEM_ASSIGN_OR_RETURN(means->index_, MakeExactIndex(memory.description().dim, {block}));
  return means;
}

Status ClassMeans::Score(MatrixView keys, int threads, std::span<float> scores) const {
  std::fill(scores.begin(), scores.end(), std::numeric_limits<float>::lowest());
  if (index_ == nullptr) return {};
  SearchOptions options;
  options.k = static_cast<int64_t>(class_of_mean_.size());
  options.threads = threads;
  Neighbors nearest;
  std::vector<float> storage;
  RESMEM_RETURN_IF_ERROR(
      index_->Search(transformer_.Applied(keys, threads, &storage), options, &nearest));
  for (int64_t q = 0; q < keys.rows; ++q) {
    const std::span<const int64_t> rows = nearest.rows_of(q);
    const std::span<const float> distances = nearest.distances_of(q);
    for (size_t i = 0; i < rows.size(); ++i) {
      const int64_t label = class_of_mean_[static_cast<size_t>(rows[i])];
      scores[static_cast<size_t>(q * classes_ + label)] = -distances[i];
    }
  }
  return {};
}

}  // namespace resmem
