#include "reproduce/page/markdown.h"

#include <cmath>

namespace resmem::cli::reproduce {
namespace {

constexpr char kNothing[] = "–";

}  // namespace

std::string ShareText(double share) {
  return std::isfinite(share) ? Percent(share) : kNothing;
}

std::string PointsText(double share) {
  return std::isfinite(share) ? SignedPoints(share) : kNothing;
}

std::string NumberText(double value, int decimals) {
  return std::isfinite(value) ? Fixed(value, decimals) : kNothing;
}

std::string ParametersText(const Json& parameters) {
  const int64_t k = CountAt(parameters, "k");
  if (k < 0) return kNothing;
  if (k == 0) return "k 0: the base alone";
  return "k " + Count(k) + ", σ " + ShortNumber(NumberAt(parameters, "sigma"), 3) + ", T " +
         ShortNumber(NumberAt(parameters, "temperature"), 3);
}

std::string ShareWithInterval(const Json& accuracy) {
  const double value = NumberAt(accuracy, "value");
  if (!std::isfinite(value)) return kNothing;
  return Percent(value) + " (" + Fixed(100 * NumberAt(accuracy, "low"), 2) + " to " +
         Fixed(100 * NumberAt(accuracy, "high"), 2) + ")";
}

std::string PointsWithInterval(const Json& gain) {
  const double value = NumberAt(gain, "value");
  if (!std::isfinite(value)) return kNothing;
  return SignedPoints(value) + " (" + SignedPoints(NumberAt(gain, "low")) + " to " +
         SignedPoints(NumberAt(gain, "high")) + ")";
}

std::string Verdict(double known, const Interval& ours) {
  if (!std::isfinite(ours.low) || !std::isfinite(ours.high)) return kNothing;
  if (known < ours.low) return "above";
  return known > ours.high ? "below" : "match";
}

}  // namespace resmem::cli::reproduce
