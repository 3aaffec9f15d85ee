// The rows of smallest value seen so far, for one query; more cheaply than one by one.
#ifndef RESMEM_SEARCH_APPROXIMATE_LISTS_CANDIDATE_POOL_H_
#define RESMEM_SEARCH_APPROXIMATE_LISTS_CANDIDATE_POOL_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace resmem {

// A value and the number of a row or a list in one word, whose order is that of values, then of
// numbers.
class Candidate {
 public:
  Candidate() = default;
  Candidate(float value, uint32_t number) : bits_(uint64_t{Ordered(value)} << 32 | number) {}

  float value() const {
    const auto ordered = static_cast<uint32_t>(bits_ >> 32);
    return std::bit_cast<float>((ordered & kSign) != 0 ? ordered ^ kSign : ~ordered);
  }
  uint32_t number() const { return static_cast<uint32_t>(bits_); }
  bool operator<(const Candidate& other) const { return bits_ < other.bits_; }

 private:
  static constexpr uint32_t kSign = 0x80000000u;
  static uint32_t Ordered(float value) {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    return (bits & kSign) != 0 ? ~bits : bits | kSign;
  }
  uint64_t bits_;
};

// Puts the `keep` smallest first, in no order.  `scratch` has room for all.
void PutSmallestFirst(std::span<Candidate> candidates, size_t keep, Candidate* scratch);

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

  // Lowers the threshold as far as what has been offered allows.
  void Tighten() {
    if (candidates_.size() > keep_) Shrink();
  }

  // Forgets the candidates, for a thread's share of what is still to be offered.
  void KeepThresholdOnly() { candidates_.clear(); }

  void OfferAll(CandidatePool* others) {
    for (const Candidate& candidate : others->Kept()) Offer(candidate);
  }

  // Of the k-th smallest, k <= keep; infinite where there are fewer.
  float ValueOfKth(int64_t k);

  // The `keep` smallest, or all where there are fewer; in no order.
  std::span<Candidate> Kept() {
    Tighten();
    return candidates_;
  }

 private:
  void Shrink();

  size_t keep_;  // >= 1
  float threshold_ = std::numeric_limits<float>::max();
  std::vector<Candidate> candidates_;
};

}  // namespace resmem

#endif  // RESMEM_SEARCH_APPROXIMATE_LISTS_CANDIDATE_POOL_H_
