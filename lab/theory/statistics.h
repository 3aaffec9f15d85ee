// From draws to estimates: means with standard errors, slopes, crossings.
#ifndef RESMEM_LAB_THEORY_STATISTICS_H_
#define RESMEM_LAB_THEORY_STATISTICS_H_

#include <cstdint>
#include <optional>
#include <span>

#include "theory/simulation.h"

namespace resmem {

// Requires at least two values.
Estimate MeanWithError(std::span<const double> values);

// See SimulationSlopes.  Where every error is 0 all points weigh the same.
std::optional<Slope> LogLogSlope(std::span<const int64_t> n, std::span<const Estimate> values);

// `difference` is the rival's risk less ResMem's, paired.  Requires at least one point.
Crossover FindCrossover(std::span<const SimulationPoint> points, Estimate SimulationPoint::*rival,
                        Estimate SimulationPoint::*difference);

}  // namespace resmem

#endif  // RESMEM_LAB_THEORY_STATISTICS_H_
