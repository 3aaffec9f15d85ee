// What `resmem theory` simulates.
#ifndef RESMEM_LAB_COMMANDS_SIMULATION_OPTIONS_H_
#define RESMEM_LAB_COMMANDS_SIMULATION_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "console/command_line.h"
#include "theory/simulation.h"

namespace resmem::cli {

class SimulationChoice {
 public:
  void Declare(CommandLine& line);
  // The options as declared, the settings being every combination of the lists given.
  Result<SimulationOptions> Options() const;

 private:
  Status SetSamples(SimulationOptions* options) const;
  Status SetSettings(SimulationOptions* options) const;

  SimulationOptions options_;
  std::string samples_ = "10..1000000";
  int64_t steps_ = 2;
  std::vector<int64_t> k_;
  std::vector<std::string> sigma_, target_;
  std::vector<double> noise_;
};

}  // namespace resmem::cli

#endif  // RESMEM_LAB_COMMANDS_SIMULATION_OPTIONS_H_
