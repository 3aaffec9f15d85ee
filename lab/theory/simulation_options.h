#ifndef RESMEM_LAB_THEORY_SIMULATION_OPTIONS_H_
#define RESMEM_LAB_THEORY_SIMULATION_OPTIONS_H_

#include "theory/simulation.h"

namespace resmem {

Status CheckSimulationOptions(const SimulationOptions& options);

// options.fit_from, or the middle of the samples' logarithmic range.  Requires checked options.
int64_t ResolveFitFrom(const SimulationOptions& options);

}  // namespace resmem

#endif  // RESMEM_LAB_THEORY_SIMULATION_OPTIONS_H_
