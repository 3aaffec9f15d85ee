// The rows that can still be among the k nearest of one query, when of each row's distance only
// bounds are known: lower <= distance <= upper.
#ifndef RESMEM_SEARCH_CANDIDATE_LIST_H_
#define RESMEM_SEARCH_CANDIDATE_LIST_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace resmem {

class CandidateList {
 public:
  struct Candidate {
    float lower;
    float upper;
    int64_t row;
  };

  explicit CandidateList(int64_t k);

  // Rows whose lower is above it are not among the k nearest.  Starts as the largest float and
  // only falls.
  float bound() const { return bound_; }

  void Offer(const Candidate& candidate) {
    if (overflowed_) return;
    candidates_.push_back(candidate);
    if (candidates_.size() >= capacity_) MakeRoom();
  }
  void OfferAll(const CandidateList& other);

  // Too many rows are so near to each other that the bounds cannot tell them apart: the list is
  // useless and was given up.
  bool overflowed() const { return overflowed_; }
  void GiveUp();

  // Call once, after the last row.  True where the k nearest are certainly among candidates() and
  // bound() < `largest`.
  bool Decide(float largest);
  const std::vector<Candidate>& candidates() const { return candidates_; }

 private:
  void Tighten();  // the bound from the candidates, and the candidates from the bound
  void MakeRoom();

  size_t k_;
  size_t capacity_;
  float bound_ = std::numeric_limits<float>::max();
  bool overflowed_ = false;
  std::vector<Candidate> candidates_;
};

}  // namespace resmem

#endif  // RESMEM_SEARCH_CANDIDATE_LIST_H_
