#include "tune/grid_walk.h"

#include <algorithm>

#include "kernels/vector_math.h"
#include "memory/memory_parts.h"
#include "predict/correction.h"

namespace resmem {
namespace {

// Residuals held at once: every sigma reads them again, from the first-level cache.
constexpr int64_t kChunkFloats = 6 << 10;

}  // namespace

int64_t GridWalk::Stride(int64_t outputs) {
  const int64_t step = outputs > 32 ? 64 : 16;
  return (outputs + step - 1) / step * step;
}

GridWalk::GridWalk(const ResidualMemory& memory, const ResidualTable& table, const Grid& grid)
    : memory_(memory),
      table_(table),
      grid_(grid),
      sparse_(memory.description().form == ResidualForm::kSparse ||
              memory.description().form == ResidualForm::kPacked),
      stride_(Stride(memory.description().outputs)),
      chunk_(static_cast<size_t>(std::max<int64_t>(kChunkFloats / stride_, 1))),
      stops_(grid.k.size()),
      sums_(grid.sigma.size() * static_cast<size_t>(stride_)),
      scratch_(static_cast<size_t>(memory.description().outputs)) {
  const auto longest = static_cast<size_t>(std::min(grid.k.back(), memory.rows()));
  weights_.resize(grid.sigma.size() * longest);
  scales_.resize(grid.sigma.size() * grid.k.size());
  if (!sparse_) residuals_.resize(std::min(chunk_, longest) * static_cast<size_t>(stride_));
}

void GridWalk::Walk(std::span<const int64_t> neighbors, std::span<const float> distances,
                    float temperature, const Visit& visit) {
  const size_t count = CountNeighbors(neighbors, grid_.k.back());
  for (size_t j = 0; j < stops_.size(); ++j) {
    stops_[j] = std::min(count, static_cast<size_t>(grid_.k[j]));
  }
  for (size_t s = 0; s < grid_.sigma.size(); ++s) {
    Weigh(distances.first(count), grid_.sigma[s], stops_, weights_.data() + s * count,
          &scales_[s * stops_.size()]);
  }
  std::fill(sums_.begin(), sums_.end(), 0.0f);
  size_t first_stop = 0;
  for (size_t begin = 0; first_stop < stops_.size(); begin += chunk_) {
    const size_t end = std::min(begin + chunk_, count);
    chunk_begin_ = begin;
    if (!sparse_) table_.Copy(neighbors.subspan(begin, end - begin), residuals_.data());
    size_t stop = first_stop;
    for (size_t s = 0; s < grid_.sigma.size(); ++s) {
      size_t at = begin;
      for (stop = first_stop; stop < stops_.size() && stops_[stop] <= end; ++stop) {
        Add(neighbors, at, stops_[stop], s, temperature);
        at = stops_[stop];
        visit(s, stop, &sums_[s * static_cast<size_t>(stride_)], scales_[s * stops_.size() + stop]);
      }
      Add(neighbors, at, end, s, temperature);
    }
    first_stop = stop;
  }
}

void GridWalk::Add(std::span<const int64_t> neighbors, size_t begin, size_t end, size_t s,
                   float temperature) {
  if (begin == end) return;
  const size_t count = stops_.back();
  const float* weights = weights_.data() + s * count;
  float* sum = &sums_[s * static_cast<size_t>(stride_)];
  if (sparse_) {
    const std::span<float> outputs(sum, scratch_.size());
    for (size_t i = begin; i < end; ++i) {
      MemoryParts::Rows(memory_).AddResidual(neighbors[i], temperature, weights[i], scratch_,
                                             outputs);
    }
    return;
  }
  AddScaledRows(weights + begin, &residuals_[(begin - chunk_begin_) * static_cast<size_t>(stride_)],
                stride_, static_cast<int64_t>(end - begin), stride_, sum);
}

}  // namespace resmem
