// The k nearest rows seen so far, by (squared distance, row).
#ifndef RESMEM_SEARCH_NEAREST_LIST_H_
#define RESMEM_SEARCH_NEAREST_LIST_H_

#include <algorithm>
#include <cstdint>
#include <vector>

namespace resmem {

struct MeasuredRow {
  double squared_distance;
  int64_t row;
  bool operator<(const MeasuredRow& other) const {
    return squared_distance != other.squared_distance ? squared_distance < other.squared_distance
                                                      : row < other.row;
  }
};

// The rows that are left do not depend on the order in which they were offered.
class NearestList {
 public:
  explicit NearestList(int64_t k) : k_(static_cast<size_t>(k)) {}

  void Offer(MeasuredRow candidate) {
    if (heap_.size() == k_) {
      if (k_ == 0 || !(candidate < heap_.front())) return;
      std::pop_heap(heap_.begin(), heap_.end());
      heap_.pop_back();
    }
    heap_.push_back(candidate);
    std::push_heap(heap_.begin(), heap_.end());
  }

  // Nearest first; the list is empty afterwards.
  std::vector<MeasuredRow> Take() {
    std::sort_heap(heap_.begin(), heap_.end());
    return std::move(heap_);
  }

 private:
  size_t k_;
  std::vector<MeasuredRow> heap_;  // the farthest in front
};

}  // namespace resmem

#endif  // RESMEM_SEARCH_NEAREST_LIST_H_
