// From values to positions on an axis, and the round values to write beside it.
#ifndef RESMEM_REPORT_CHART_SCALE_H_
#define RESMEM_REPORT_CHART_SCALE_H_

#include <vector>

namespace resmem {

// Values of an interval; widened where it has no width, so that a scale always has one.
struct Extent {
  double low = 0, high = 0;
  bool empty = true;

  void Include(double value);
};

class Scale {
 public:
  // Maps extent.low to `from` and extent.high to `to`.  Logarithmic where asked and possible:
  // an extent that reaches 0 falls back to linear.
  Scale(const Extent& extent, double from, double to, bool logarithmic = false);
  // The same with the ends moved outwards to round values.
  static Scale Round(const Extent& extent, double from, double to, bool logarithmic = false);

  double operator()(double value) const;
  // About `count` round values within the extent.
  std::vector<double> Ticks(int count) const;
  bool logarithmic() const { return logarithmic_; }
  double low() const { return low_; }
  double high() const { return high_; }

 private:
  double low_, high_, from_, to_;
  bool logarithmic_;
};

// 1, 2 or 5 times a power of ten: the distance of about `count` ticks over `width` > 0.
double RoundStep(double width, int count);
// How many decimals tell multiples of `step` apart.
int DecimalsOf(double step);

}  // namespace resmem

#endif  // RESMEM_REPORT_CHART_SCALE_H_
