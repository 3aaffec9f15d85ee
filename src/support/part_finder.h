// Which of several parts, that lie one behind the other, a row is in.
//
// A binary search takes branches that nobody foresees, for every neighbor of every query.  Here
// the row's slot, one of at most 1,024 of equal length, mostly lies in one part and names it.
#ifndef RESMEM_SUPPORT_PART_FINDER_H_
#define RESMEM_SUPPORT_PART_FINDER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace resmem {

class PartFinder {
 public:
  PartFinder() : PartFinder({0}) {}
  // `starts`: the first row of each part, ascending from 0, and behind them the end.
  explicit PartFinder(std::vector<int64_t> starts) : starts_(std::move(starts)) {
    constexpr int64_t kMostSlots = 1024;
    while (end() >> shift_ >= kMostSlots) ++shift_;
    const int64_t last = end() >> shift_;
    for (int64_t slot = 0; slot <= last + 1; ++slot) {
      const int64_t row = slot > last ? end() : slot << shift_;
      first_.push_back(static_cast<uint32_t>(Search(0, starts_.size(), row)));
    }
  }

  int64_t end() const { return starts_.back(); }
  // Of part i; start(i + 1) is its end.
  int64_t start(size_t part) const { return starts_[part]; }
  // For 0 <= row < end().
  size_t PartOf(int64_t row) const {
    if (starts_.size() <= 2) return 0;
    const auto slot = static_cast<size_t>(row >> shift_);
    const size_t first = first_[slot], last = first_[slot + 1];
    return first == last ? first : Search(first, last + 1, row);
  }

 private:
  // The last of the starts [begin, end) that is at most `row`; the first of them is.
  size_t Search(size_t begin, size_t end, int64_t row) const {
    const auto at = starts_.begin();
    return static_cast<size_t>(std::upper_bound(at + static_cast<std::ptrdiff_t>(begin),
                                                at + static_cast<std::ptrdiff_t>(end), row) -
                               at) -
           1;
  }

  std::vector<int64_t> starts_;
  std::vector<uint32_t> first_;  // part of each slot's first row, and of the end
  int shift_ = 0;
};

}  // namespace resmem

#endif  // RESMEM_SUPPORT_PART_FINDER_H_
