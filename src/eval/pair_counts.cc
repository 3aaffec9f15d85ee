#include "eval/pair_counts.h"

#include <algorithm>
#include <cmath>

#include "eval/statistics.h"

namespace resmem {

PairCounts::PairCounts(size_t methods)
    : methods_(methods), pairs_(methods * (methods > 0 ? methods - 1 : 0) / 2) {}

void PairCounts::Add(std::span<const bool> right, std::span<const double> nll) {
  ++rows_;
  size_t at = 0;
  for (size_t l = 0; l < methods_; ++l) {
    for (size_t r = l + 1; r < methods_; ++r) {
      Pair& pair = pairs_[at++];
      ++(right[l]   ? right[r] ? pair.both_right : pair.harmed
         : right[r] ? pair.fixed
                    : pair.both_wrong);
      const double difference = nll[l] - nll[r];
      if (std::isnan(difference)) {
        pair.has_nll = false;
      } else {
        pair.sum += difference;
        pair.squares += difference * difference;
      }
    }
  }
}

std::vector<MethodPair> PairCounts::Finish(std::span<const size_t> places) const {
  std::vector<MethodPair> found;
  size_t at = 0;
  for (size_t l = 0; l < methods_; ++l) {
    for (size_t r = l + 1; r < methods_; ++r) {
      const Pair& pair = pairs_[at++];
      MethodPair one;
      one.left = places[l];
      one.right = places[r];
      one.gain = MakePairedGain(pair.fixed, pair.harmed, pair.both_right, pair.both_wrong);
      if (pair.has_nll && rows_ > 0) {
        const auto rows = static_cast<double>(rows_);
        const double mean = pair.sum / rows;
        const double variance =
            rows_ > 1 ? std::max(pair.squares - rows * mean * mean, 0.0) / (rows - 1) : 0;
        const double half = MeanHalfWidth(std::sqrt(variance), rows_);
        one.nll = MethodPair::NllGain{mean, {mean - half, mean + half}};
      }
      found.push_back(one);
    }
  }
  return found;
}

}  // namespace resmem
