// Every method against every other, counted row by row.
#ifndef RESMEM_EVAL_PAIR_COUNTS_H_
#define RESMEM_EVAL_PAIR_COUNTS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "resmem/evaluation.h"

namespace resmem {

class PairCounts {
 public:
  explicit PairCounts(size_t methods);

  // Of one row: who is right, and each one's NLL, not a number where it has none.
  void Add(std::span<const bool> right, std::span<const double> nll);
  // `places`: of the methods in Evaluation::methods.
  std::vector<MethodPair> Finish(std::span<const size_t> places) const;

 private:
  struct Pair {
    int64_t fixed = 0, harmed = 0, both_right = 0, both_wrong = 0;  // right against left
    double sum = 0, squares = 0;                                    // of left's NLL less right's
    bool has_nll = true;
  };
  size_t methods_;
  std::vector<Pair> pairs_;  // left < right
  int64_t rows_ = 0;
};

}  // namespace resmem

#endif  // RESMEM_EVAL_PAIR_COUNTS_H_
