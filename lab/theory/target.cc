#include "theory/target.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "support/text.h"
#include "theory/ball.h"

namespace resmem {
namespace {

constexpr SimulationTarget kTargets[] = {SimulationTarget::kLinear, SimulationTarget::kSine,
                                         SimulationTarget::kQuadratic, SimulationTarget::kStep};

double TargetGradient(SimulationTarget target, double u) {
  switch (target) {
    case SimulationTarget::kLinear:
      return 1;
    case SimulationTarget::kSine:
      return 2 * std::cos(2 * u);
    case SimulationTarget::kQuadratic:
      return 2 * u;
    case SimulationTarget::kStep:
      return 0;  // but for the jump
  }
  return 0;
}

}  // namespace

const char* SimulationTargetName(SimulationTarget target) {
  switch (target) {
    case SimulationTarget::kLinear:
      return "linear";
    case SimulationTarget::kSine:
      return "sine";
    case SimulationTarget::kQuadratic:
      return "quadratic";
    case SimulationTarget::kStep:
      return "step";
  }
  return "unknown";
}

Result<SimulationTarget> ParseSimulationTarget(std::string_view name) {
  for (SimulationTarget target : kTargets) {
    if (name == SimulationTargetName(target)) return target;
  }
  return Status(ErrorCode::kInvalidArgument,
                Text("target \"", name, "\" is not known; give linear, sine, quadratic or step"));
}

double TargetValue(SimulationTarget target, double u) {
  switch (target) {
    case SimulationTarget::kLinear:
      return u;
    case SimulationTarget::kSine:
      return std::sin(2 * u);
    case SimulationTarget::kQuadratic:
      return u * u - 1;
    case SimulationTarget::kStep:
      return u < 0 ? -1 : 1;
  }
  return 0;
}

TargetMoments ComputeTargetMoments(SimulationTarget target, int64_t dimension) {
  // With u = R cos(phi) the density of u becomes sin(phi)^d on [0, pi], smooth up to the ends:
  // Simpson's rule is exact to rounding.  The step's jump, at pi/2, lies between two panels.
  constexpr int kPanels = 8192;
  const double radius = BallRadius(dimension);
  double mass = 0;
  TargetMoments sums;
  for (int i = 0; i <= 2 * kPanels; ++i) {
    const double phi = std::numbers::pi * i / (2 * kPanels);
    const double simpson = (i == 0 || i == 2 * kPanels) ? 1 : (i % 2 == 1 ? 4 : 2);
    const double weight = simpson * std::pow(std::sin(phi), static_cast<double>(dimension));
    const double u = radius * std::cos(phi);
    const double value = TargetValue(target, u);
    mass += weight;
    sums.slope += weight * u * value;
    sums.square += weight * value * value;
    const double gradient = TargetGradient(target, u);
    sums.gradient += weight * gradient;
    sums.gradient_square += weight * gradient * gradient;
  }
  if (target == SimulationTarget::kStep) {
    sums.gradient_square = std::numeric_limits<double>::infinity();
  }
  return {sums.slope / mass, sums.square / mass, sums.gradient / mass, sums.gradient_square / mass};
}

double BestSlope(const TargetMoments& moments, double bound) {
  return std::clamp(moments.slope, -bound, bound);
}

double Plateau(const TargetMoments& moments, double bound) {
  const double best = BestSlope(moments, bound);
  return moments.square - 2 * best * moments.slope + best * best;
}

double RatioLimit(const TargetMoments& moments, double bound) {
  if (std::isinf(moments.gradient_square)) return 1;  // the jump outweighs what the base removes
  const double best = BestSlope(moments, bound);
  return 1 + best * (best - 2 * moments.gradient) / moments.gradient_square;
}

}  // namespace resmem
