// A simulation's result as a document of `--json`, for `resmem report` too.
#ifndef RESMEM_LAB_THEORY_SIMULATION_JSON_H_
#define RESMEM_LAB_THEORY_SIMULATION_JSON_H_

#include <string>

#include "resmem/report/report.h"
#include "theory/simulation.h"

namespace resmem {

std::string SimulationJson(const SimulationResult& result, const RunInfo& run);

}  // namespace resmem

#endif  // RESMEM_LAB_THEORY_SIMULATION_JSON_H_
