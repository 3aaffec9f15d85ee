// The rows that can still be among the k nearest of one query, when of each row's distance only
// bounds are known: lower <= distance <= upper.
#ifndef RESMEM_SEARCH_FIRST_PASS_CANDIDATE_LIST_H_
#define RESMEM_SEARCH_FIRST_PASS_CANDIDATE_LIST_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace resmem {

class CandidateList {
 public:
  explicit CandidateList(int64_t k);  // k >= 1

  // Rows whose lower is above it are not among the k nearest.  Starts as the largest float and
  // only falls.
  float bound() const { return bound_; }
  // From elsewhere, and perhaps only a guess: the list decides nothing unless at least k rows that
  // were offered in the end have an upper that is not above.
  void LowerBound(float bound) { bound_ = std::min(bound_, bound); }

  void Offer(float lower, float upper, int64_t row) {
    if (overflowed_) return;
    lowers_[size_] = lower;
    uppers_[size_] = upper;
    rows_[size_] = row;
    if (++size_ == rows_.size()) MakeRoom();
  }
  void OfferAll(const CandidateList& other);

  // Too many rows are so near to each other that the bounds cannot tell them apart: the list is
  // useless and was given up.
  bool overflowed() const { return overflowed_; }
  void GiveUp();

  // After the last row: a bound from elsewhere was wrong, nothing else.
  bool bound_was_too_low() const { return !overflowed_ && !BoundIsProven(); }

  // Makes bound() as low as the candidates so far allow.
  void TightenEarly() {
    if (!overflowed_ && size_ >= k_) Tighten();
  }

  // Call once, after the last row.  True where the k nearest are certainly among rows() and
  // bound() < `largest`.
  bool Decide(float largest);
  std::span<const int64_t> rows() const { return {rows_.data(), size_}; }
  std::span<const float> lowers() const { return {lowers_.data(), size_}; }

 private:
  bool BoundIsProven() const;
  void Tighten();  // the bound from the candidates, and the candidates from the bound
  void MakeRoom();
  void Resize(size_t capacity);

  size_t k_;
  size_t size_ = 0;
  float bound_ = std::numeric_limits<float>::max();
  bool overflowed_ = false;
  // Three arrays and not one of structs: Tighten() reads them one by one, in vectors.
  std::vector<float> lowers_, uppers_;
  std::vector<int64_t> rows_;
};

}  // namespace resmem

#endif  // RESMEM_SEARCH_FIRST_PASS_CANDIDATE_LIST_H_
