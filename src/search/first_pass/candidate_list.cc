#include "search/first_pass/candidate_list.h"

#include <algorithm>

#include "support/check.h"

namespace resmem {
namespace {

// More candidates than this cost more than measuring them saves.
size_t LargestCapacity(size_t k) {
  return std::max<size_t>(8 * k, 4096);
}

// At least the k-th smallest of the values, and not much more: bisection stops as soon as few
// values too many are below.  Sorting would be exact and ten times slower.
float NearKthSmallest(std::span<const float> values, size_t k) {
  const auto [smallest, largest] = std::minmax_element(values.begin(), values.end());
  float low = *smallest, high = *largest;
  for (int round = 0; round < 24; ++round) {
    const float middle = low * 0.5f + high * 0.5f;
    if (!(low < middle && middle < high)) break;
    int32_t count = 0;
    for (const float value : values) count += value <= middle ? 1 : 0;
    if (static_cast<size_t>(count) < k) {
      low = middle;
    } else {
      high = middle;
      if (static_cast<size_t>(count) <= k + k / 16) break;
    }
  }
  return high;
}

}  // namespace

CandidateList::CandidateList(int64_t k) : k_(static_cast<size_t>(k)) {
  RESMEM_DCHECK(k >= 1);
  Resize(2 * k_ + 64);
}

void CandidateList::Resize(size_t capacity) {
  lowers_.resize(capacity);
  uppers_.resize(capacity);
  rows_.resize(capacity);
}

void CandidateList::OfferAll(const CandidateList& other) {
  if (other.overflowed_) GiveUp();
  if (overflowed_) return;
  if (size_ + other.size_ >= rows_.size()) Resize(size_ + other.size_ + 1);  // Decide() tightens it
  for (size_t i = 0; i < other.size_; ++i) {
    if (other.lowers_[i] <= bound_) Offer(other.lowers_[i], other.uppers_[i], other.rows_[i]);
  }
}

void CandidateList::GiveUp() {
  overflowed_ = true;
  size_ = 0;
}

bool CandidateList::BoundIsProven() const {
  int32_t below = 0;
  for (size_t i = 0; i < size_; ++i) below += uppers_[i] <= bound_ ? 1 : 0;
  return static_cast<size_t>(below) >= k_;
}

void CandidateList::Tighten() {
  bound_ = std::min(bound_, NearKthSmallest({uppers_.data(), size_}, k_));
  size_t kept = 0;
  for (size_t i = 0; i < size_; ++i) {
    const float lower = lowers_[i];
    lowers_[kept] = lower;
    uppers_[kept] = uppers_[i];
    rows_[kept] = rows_[i];
    kept += lower <= bound_ ? 1 : 0;
  }
  size_ = kept;
}

void CandidateList::MakeRoom() {
  Tighten();
  const size_t capacity = rows_.size();
  if (size_ < capacity - capacity / 4) return;
  if (2 * capacity > LargestCapacity(k_)) {
    GiveUp();
  } else {
    Resize(2 * capacity);
  }
}

bool CandidateList::Decide(float largest) {
  if (overflowed_ || size_ < k_) return false;
  Tighten();
  return bound_ < largest && BoundIsProven();
}

}  // namespace resmem
