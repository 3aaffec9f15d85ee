#include "search/candidate_list.h"

#include <algorithm>

#include "support/check.h"

namespace resmem {
namespace {

// More candidates than this cost more than measuring them saves.
size_t LargestCapacity(size_t k) {
  return std::max<size_t>(8 * k, 4096);
}

}  // namespace

CandidateList::CandidateList(int64_t k)
    : k_(static_cast<size_t>(k)), capacity_(2 * static_cast<size_t>(k) + 64) {
  RESMEM_DCHECK(k >= 1);
}

void CandidateList::OfferAll(const CandidateList& other) {
  if (other.overflowed_) GiveUp();
  for (const Candidate& candidate : other.candidates_) {
    if (candidate.lower <= bound_) Offer(candidate);
  }
}

void CandidateList::GiveUp() {
  overflowed_ = true;
  candidates_ = {};
}

void CandidateList::Tighten() {
  const auto kth = candidates_.begin() + static_cast<std::ptrdiff_t>(k_) - 1;
  std::nth_element(candidates_.begin(), kth, candidates_.end(),
                   [](const Candidate& a, const Candidate& b) { return a.upper < b.upper; });
  bound_ = std::min(bound_, kth->upper);
  std::erase_if(candidates_, [this](const Candidate& c) { return c.lower > bound_; });
}

void CandidateList::MakeRoom() {
  Tighten();
  if (candidates_.size() < capacity_ - capacity_ / 4) return;
  capacity_ *= 2;
  if (capacity_ > LargestCapacity(k_)) GiveUp();
}

bool CandidateList::Decide(float largest) {
  if (overflowed_ || candidates_.size() < k_) return false;
  Tighten();
  return bound_ < largest;
}

}  // namespace resmem
