#include "report/chart/scale.h"

#include <algorithm>
#include <cmath>

namespace resmem {

void Extent::Include(double value) {
  if (!std::isfinite(value)) return;
  low = empty ? value : std::min(low, value);
  high = empty ? value : std::max(high, value);
  empty = false;
}

Scale::Scale(const Extent& extent, double from, double to, bool logarithmic)
    : low_(extent.low),
      high_(extent.high),
      from_(from),
      to_(to),
      logarithmic_(logarithmic && !extent.empty && extent.low > 0) {
  // Less than this apart, rounding would eat the difference.
  const double narrowest = std::max(std::abs(low_), std::abs(high_)) * 1e-9;
  if (high_ - low_ > std::max(narrowest, 1e-300)) return;
  const double around = low_ == 0 ? 1 : std::abs(low_) * 0.5;
  high_ += around;
  low_ -= logarithmic_ ? around * 0.5 : around;
}

Scale Scale::Round(const Extent& extent, double from, double to, bool logarithmic) {
  Scale scale(extent, from, to, logarithmic);
  if (scale.logarithmic_) return scale;
  const double step = RoundStep(scale.high_ - scale.low_, 5);
  scale.low_ = std::floor(scale.low_ / step) * step;
  scale.high_ = std::ceil(scale.high_ / step) * step;
  return scale;
}

double Scale::operator()(double value) const {
  const double share = logarithmic_
                           ? (std::log(value) - std::log(low_)) / (std::log(high_) - std::log(low_))
                           : (value - low_) / (high_ - low_);
  return from_ + share * (to_ - from_);
}

std::vector<double> Scale::Ticks(int count) const {
  std::vector<double> ticks;
  if (logarithmic_) {
    const double decades = std::log10(high_ / low_);
    const int every = std::max(1, static_cast<int>(std::ceil(decades / count)));
    const int first = static_cast<int>(std::floor(std::log10(low_)));
    const int last = static_cast<int>(std::ceil(std::log10(high_)));
    for (int power = first; power <= last; power += every) {
      for (const double factor : {1.0, 2.0, 5.0}) {
        if (factor > 1 && decades > count / 2.0) continue;
        const double tick = factor * std::pow(10.0, power);
        if (tick >= low_ * (1 - 1e-9) && tick <= high_ * (1 + 1e-9)) ticks.push_back(tick);
      }
    }
    return ticks;
  }
  const double step = RoundStep(high_ - low_, count);
  const double first = std::ceil(low_ / step - 1e-6);
  for (int i = 0; i <= 4 * count; ++i) {
    const double tick = (first + i) * step;
    if (tick > high_ + step * 1e-6) break;
    ticks.push_back(std::abs(tick) < step * 1e-6 ? 0 : tick);
  }
  return ticks;
}

double RoundStep(double width, int count) {
  const double rough = width / std::max(1, count);
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (rough <= factor * power * (1 + 1e-9)) return factor * power;
  }
  return 10 * power;
}

int DecimalsOf(double step) {
  return std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 12);
}

}  // namespace resmem
