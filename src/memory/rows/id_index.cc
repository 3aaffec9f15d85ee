#include "memory/rows/id_index.h"

#include <algorithm>

namespace resmem {

IdIndex::IdIndex(const StoredRows& rows) : rows_(rows) {
  std::optional<uint64_t> previous;
  for (const Segment& segment : rows.segments()) {
    for (int64_t row = 0; row < segment.rows() && ascending_; ++row) {
      ascending_ = !previous || *previous < segment.id(row);
      previous = segment.id(row);
    }
  }
  if (ascending_) return;
  by_id_.reserve(static_cast<size_t>(rows.living()));
  auto deleted = rows.deleted().begin();
  for (int64_t row = 0; row < rows.capacity(); ++row) {
    if (deleted != rows.deleted().end() && *deleted == row) {
      ++deleted;
    } else {
      by_id_.push_back(row);
    }
  }
  std::sort(by_id_.begin(), by_id_.end(), [&](int64_t a, int64_t b) {
    const uint64_t id_a = rows.id(a), id_b = rows.id(b);
    return id_a != id_b ? id_a < id_b : a < b;
  });
  const auto twice = std::adjacent_find(
      by_id_.begin(), by_id_.end(), [&](int64_t a, int64_t b) { return rows.id(a) == rows.id(b); });
  if (twice != by_id_.end()) repeated_ = rows.id(*twice);
}

std::optional<int64_t> IdIndex::Find(uint64_t id) const {
  // The first position, among all rows or in by_id_, whose id is not smaller.
  const int64_t count = ascending_ ? rows_.capacity() : static_cast<int64_t>(by_id_.size());
  const auto row_at = [&](int64_t position) {
    return ascending_ ? position : by_id_[static_cast<size_t>(position)];
  };
  int64_t low = 0, high = count;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (rows_.id(row_at(middle)) < id) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == count || rows_.id(row_at(low)) != id || rows_.deleted(row_at(low))) {
    return std::nullopt;
  }
  return row_at(low);
}

}  // namespace resmem
