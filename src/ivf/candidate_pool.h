// The rows of smallest value seen so far, for one query; more cheaply than one by one.
#ifndef RESMEM_IVF_CANDIDATE_POOL_H_
#define RESMEM_IVF_CANDIDATE_POOL_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace resmem {

struct Candidate {
  float value;
  uint32_t row;
  bool operator<(const Candidate& other) const {
    return value != other.value ? value < other.value : row < other.row;
  }
};

// What is left does not depend on the order in which candidates were offered.
class CandidatePool {
 public:
  explicit CandidatePool(int64_t keep) : keep_(static_cast<size_t>(keep)) {}

  // Candidates above it need not be offered.
  float threshold() const { return threshold_; }

  void Offer(Candidate candidate) {
    const size_t room = 2 * keep_ + 32;
    if (candidates_.empty()) candidates_.reserve(room);
    candidates_.push_back(candidate);
    if (candidates_.size() == room) Shrink();
  }

  // The `keep` smallest, or all where there are fewer; in no order.
  std::span<const Candidate> Kept() {
    if (candidates_.size() > keep_) Shrink();
    return candidates_;
  }
  // Smallest first.
  std::span<const Candidate> Sorted() {
    Kept();
    std::sort(candidates_.begin(), candidates_.end());
    return candidates_;
  }

 private:
  void Shrink() {
    const auto last = candidates_.begin() + static_cast<ptrdiff_t>(keep_) - 1;
    std::nth_element(candidates_.begin(), last, candidates_.end());
    threshold_ = last->value;
    candidates_.resize(keep_);
  }

  size_t keep_;  // >= 1
  float threshold_ = std::numeric_limits<float>::max();
  std::vector<Candidate> candidates_;
};

}  // namespace resmem

#endif  // RESMEM_IVF_CANDIDATE_POOL_H_
