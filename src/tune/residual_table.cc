#include "tune/residual_table.h"

#include <algorithm>

#include "memory/memory_parts.h"
#include "support/parallel.h"

namespace resmem {

ResidualTable::ResidualTable(const ResidualMemory& memory, const ValidationRows& rows,
                             int64_t stride, int64_t table_bytes)
    : memory_(memory), outputs_(memory.description().outputs), stride_(stride) {
  std::vector<bool> seen(static_cast<size_t>(memory.capacity()));
  for (const ValidationBlock& block : rows.blocks) {
    for (const int64_t row : block.neighbors.rows) {
      if (row >= 0) seen[static_cast<size_t>(row)] = true;
    }
  }
  const int64_t count = std::count(seen.begin(), seen.end(), true);
  if (count > table_bytes / (stride * static_cast<int64_t>(sizeof(float)))) return;
  position_.resize(seen.size());
  for (size_t row = 0; row < seen.size(); ++row) {
    if (!seen[row]) continue;
    position_[row] = static_cast<int32_t>(referenced_.size());
    referenced_.push_back(static_cast<int64_t>(row));
  }
  values_.resize(static_cast<size_t>(count * stride));
}

void ResidualTable::SetTemperature(float temperature, int threads) {
  temperature_ = temperature;
  ParallelFor(threads, static_cast<int64_t>(referenced_.size()), 256,
              [&](int64_t begin, int64_t end, int) {
                for (int64_t i = begin; i < end; ++i) {
                  MemoryParts::Rows(memory_).Residual(
                      referenced_[static_cast<size_t>(i)], temperature,
                      std::span(values_).subspan(static_cast<size_t>(i * stride_),
                                                 static_cast<size_t>(outputs_)));
                }
              });
}

void ResidualTable::Copy(std::span<const int64_t> rows, float* out) const {
  for (const int64_t row : rows) {
    if (referenced_.empty()) {
      MemoryParts::Rows(memory_).Residual(row, temperature_, {out, static_cast<size_t>(outputs_)});
    } else {
      const int64_t position = position_[static_cast<size_t>(row)];
      std::copy_n(&values_[static_cast<size_t>(position * stride_)], outputs_, out);
    }
    out += stride_;
  }
}

}  // namespace resmem
