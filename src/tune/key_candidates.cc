#include "tune/key_candidates.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "kernels/number_codec.h"
#include "memory/keys/whitening.h"
#include "memory/memory_parts.h"
#include "memory/rows/key_encoder.h"
#include "support/parallel.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr int64_t kKeysTogether = 1024;

// As it will be after it was stored.
void RoundKey(KeyType type, std::span<const float> center, std::span<float> key,
              std::vector<uint16_t>* half, std::vector<int8_t>* codes) {
  const int64_t dim = std::ssize(key);
  if (type == KeyType::kFloat16) {
    half->resize(key.size());
    FloatToHalf(key.data(), dim, half->data());
    HalfToFloat(half->data(), dim, key.data());
  } else if (type == KeyType::kInt8) {
    codes->resize(key.size());
    const float scale = QuantizeInt8(key.data(), dim, codes->data());
    Int8ToFloat(codes->data(), dim, scale, key.data());
  } else if (type == KeyType::kInt4) {
    codes->resize(key.size());
    RoundInt4(center, key, *codes);
  }
}

// The first k of two sorted lines; rows of `more` are counted from `first_row`.
void Merge(const Neighbors& more, int64_t first_row, Neighbors* all) {
  const auto k = static_cast<size_t>(all->k), has = static_cast<size_t>(more.k);
  std::vector<std::pair<float, int64_t>> line;
  for (int64_t q = 0; q < all->queries; ++q) {
    line.clear();
    for (size_t i = 0; i < k && all->rows_of(q)[i] >= 0; ++i) {
      line.emplace_back(all->distances_of(q)[i], all->rows_of(q)[i]);
    }
    for (size_t i = 0; i < has && more.rows_of(q)[i] >= 0; ++i) {
      line.emplace_back(more.distances_of(q)[i], more.rows_of(q)[i] + first_row);
    }
    std::sort(line.begin(), line.end());
    for (size_t i = 0; i < std::min(k, line.size()); ++i) {
      all->distances[static_cast<size_t>(q) * k + i] = line[i].first;
      all->rows[static_cast<size_t>(q) * k + i] = line[i].second;
    }
  }
}

class CandidateSearch {
 public:
  CandidateSearch(const ResidualMemory& memory, const KeyTransformer& transformer,
                  const ValidationRows& rows, const TuneOptions& options)
      : stored_(MemoryParts::Rows(memory)),
        description_(memory.description()),
        transformer_(transformer),
        rows_(rows),
        options_(options) {}

  Result<std::vector<Neighbors>> Run() {
    const int64_t capacity = stored_.capacity();
    const int64_t piece =
        std::clamp<int64_t>(options_.memory_limit / 2 / (4 * description_.dim), 1, capacity);
    for (const ValidationBlock& block : rows_.blocks) {
      queries_.emplace_back(block.key_values.size());
      transformer_.Apply(block.keys(), options_.threads, queries_.back().data());
      // Lines of the memory's own search: as many, and none of them found yet.
      found_.push_back(block.neighbors);
      std::fill(found_.back().rows.begin(), found_.back().rows.end(), -1);
    }
    for (int64_t begin = 0; begin < capacity; begin += piece) {
      RESMEM_RETURN_IF_ERROR(SearchPiece(begin, std::min(begin + piece, capacity)));
    }
    return std::move(found_);
  }

 private:
  Status Stop(int64_t done) const {
    if (options_.progress == nullptr) return {};
    options_.progress->Report(Text("try keys: ", KeyTransformName(transformer_.kind())), done,
                              stored_.capacity());
    if (!options_.progress->Cancelled()) return {};
    return {ErrorCode::kCancelled, "stopped while tuning"};
  }

  Status ComputeKeys(int64_t begin, int64_t end) {
    const auto dim = static_cast<size_t>(description_.dim);
    keys_.resize(static_cast<size_t>(end - begin) * dim);
    std::vector<int64_t> numbers;
    for (int64_t row = begin; row < end; row += kKeysTogether) {
      numbers.resize(static_cast<size_t>(std::min(kKeysTogether, end - row)));
      std::iota(numbers.begin(), numbers.end(), row);
      const std::span<float> keys =
          std::span(keys_).subspan(static_cast<size_t>(row - begin) * dim, numbers.size() * dim);
      given_.resize(keys.size());
      stored_.GivenKeys(numbers, options_.threads, given_);
      transformer_.Apply({given_.data(), std::ssize(numbers), description_.dim}, options_.threads,
                         keys.data());
      if (center_.empty() && description_.key_type == KeyType::kInt4) {
        center_ = MeanOf({keys.data(), std::ssize(numbers), description_.dim});
      }
      ParallelFor(ResolveThreads(options_.threads), std::ssize(numbers), 64,
                  [&](int64_t from, int64_t to, int) {
                    std::vector<uint16_t> half;
                    std::vector<int8_t> codes;
                    for (int64_t i = from; i < to; ++i) {
                      RoundKey(description_.key_type, center_,
                               keys.subspan(static_cast<size_t>(i) * dim, dim), &half, &codes);
                    }
                  });
      RESMEM_RETURN_IF_ERROR(Stop(row));
    }
    return {};
  }

  Status SearchPiece(int64_t begin, int64_t end) {
    RESMEM_RETURN_IF_ERROR(ComputeKeys(begin, end));
    std::vector<int64_t> hidden;
    for (const int64_t row : stored_.deleted()) {
      if (row >= begin && row < end) hidden.push_back(row - begin);
    }
    const KeyBlock block{KeyType::kFloat32, keys_.data(), nullptr, end - begin};
    RESMEM_ASSIGN_OR_RETURN(const std::unique_ptr<KnnIndex> index,
                            MakeExactIndex(description_.dim, {block}, std::move(hidden)));
    for (size_t b = 0; b < rows_.blocks.size(); ++b) {
      if (found_[b].k == 0) continue;
      std::vector<int64_t> exclude = rows_.blocks[b].exclude;
      for (int64_t& row : exclude) row = row >= begin && row < end ? row - begin : -1;
      SearchOptions search;
      search.k = found_[b].k;
      search.threads = options_.threads;
      search.exclude = exclude;
      Neighbors found;
      const MatrixView queries(queries_[b].data(), rows_.blocks[b].count(), description_.dim);
      RESMEM_RETURN_IF_ERROR(index->Search(queries, search, &found));
      Merge(found, begin, &found_[b]);
      RESMEM_RETURN_IF_ERROR(Stop(end));
    }
    return {};
  }

  const StoredRows& stored_;
  const MemoryDescription& description_;
  const KeyTransformer& transformer_;
  const ValidationRows& rows_;
  const TuneOptions& options_;
  std::vector<std::vector<float>> queries_;  // of each block, transformed
  std::vector<Neighbors> found_;
  std::vector<float> keys_, given_;
  std::vector<float> center_;  // int4 keys: of the first rows, near the one that storing would take
};

}  // namespace

Result<std::vector<Neighbors>> FindTransformedNeighbors(const ResidualMemory& memory,
                                                        KeyTransform transform,
                                                        const ValidationRows& rows,
                                                        const TuneOptions& options) {
  RESMEM_ASSIGN_OR_RETURN(
      const KeyTransformer transformer,
      MakeTransformer(MemoryParts::Rows(memory), transform, options.threads, options.progress));
  return CandidateSearch(memory, transformer, rows, options).Run();
}

}  // namespace resmem
