#include "search/approximate/lists/candidate_pool.h"

#include <algorithm>

namespace resmem {
namespace {

// The middle one of three that lie apart.
Candidate Pivot(std::span<const Candidate> candidates) {
  const Candidate a = candidates.front(), b = candidates[candidates.size() / 2],
                  c = candidates.back();
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

// Those for which `below` holds come first, and are counted.  Without a branch that depends on
// values: it would be guessed wrong every other time.
template <class Below>
size_t Partition(std::span<Candidate> candidates, Candidate* scratch, const Below& below) {
  size_t first = 0, last = candidates.size();
  for (const Candidate candidate : candidates) {
    const size_t is_below = below(candidate) ? 1 : 0;
    scratch[first] = candidate;
    scratch[last - 1] = candidate;
    first += is_below;
    last -= 1 - is_below;
  }
  std::copy_n(scratch, candidates.size(), candidates.begin());
  return first;
}

}  // namespace

void PutSmallestFirst(std::span<Candidate> candidates, size_t keep, Candidate* scratch) {
  constexpr size_t kFew = 12;
  while (keep > 0 && keep < candidates.size()) {
    if (candidates.size() <= kFew) {
      std::sort(candidates.begin(), candidates.end());
      return;
    }
    const Candidate pivot = Pivot(candidates);
    size_t below =
        Partition(candidates, scratch, [&](const Candidate& other) { return other < pivot; });
    if (below == 0) {
      below =
          Partition(candidates, scratch, [&](const Candidate& other) { return !(pivot < other); });
    }
    if (below <= keep) {
      candidates = candidates.subspan(below);
      keep -= below;
    } else {
      candidates = candidates.first(below);
    }
  }
}

void CandidatePool::Shrink() {
  constexpr size_t kOnStack = 1024;
  Candidate few[kOnStack];
  std::vector<Candidate> many(candidates_.size() > kOnStack ? candidates_.size() : 0);
  PutSmallestFirst(candidates_, keep_, many.empty() ? few : many.data());
  candidates_.resize(keep_);
  threshold_ = std::max_element(candidates_.begin(), candidates_.end())->value();
}

float CandidatePool::ValueOfKth(int64_t k) {
  Tighten();
  if (static_cast<int64_t>(candidates_.size()) < k) return std::numeric_limits<float>::infinity();
  const auto kth = candidates_.begin() + (k - 1);
  std::nth_element(candidates_.begin(), kth, candidates_.end());
  return kth->value();
}

}  // namespace resmem
