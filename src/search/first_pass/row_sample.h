// A sample of the rows, from which a first bound on the distance of the k-th nearest is guessed.
#ifndef RESMEM_SEARCH_FIRST_PASS_ROW_SAMPLE_H_
#define RESMEM_SEARCH_FIRST_PASS_ROW_SAMPLE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace resmem {

// One of `share` rows or fewer, from everywhere: rows are often stored class by class.  The first
// ones of the sample are again from everywhere.
class RowSample {
 public:
  // The number of rows that are taken is a multiple of `multiple`, or 0 where there are few.
  RowSample(int64_t rows, int64_t share, int64_t multiple)
      : count_(std::min(rows / share, kMost) / multiple * multiple) {
    if (count_ < kFewest) count_ = 0;
    if (count_ == 0) return;
    step_ = rows / count_;
    // Coprime to the count, and near its golden section: rows that follow each other are far apart.
    stride_ = static_cast<int64_t>(0.618 * static_cast<double>(count_)) | 1;
    while (std::gcd(stride_, count_) != 1) stride_ += 2;
  }

  int64_t count() const { return count_; }
  int64_t row(int64_t i) const { return i * stride_ % count_ * step_; }

  // Which place in a sample that is `share` of all rows stands for a bound: fewer than k rows are
  // nearer than that only where so many of the k nearest are in the sample, which happens less
  // than once in a thousand times if it is as random as it looks (a Poisson distribution's tail).
  static int64_t PlaceOfBound(int64_t k, double share) {
    const double expected = share * static_cast<double>(k);
    return static_cast<int64_t>(std::ceil(expected + 3.3 * std::sqrt(expected) + 2));
  }

 private:
  static constexpr int64_t kFewest = 256, kMost = 32768;
  int64_t count_, step_ = 0, stride_ = 0;
};

}  // namespace resmem

#endif  // RESMEM_SEARCH_FIRST_PASS_ROW_SAMPLE_H_
