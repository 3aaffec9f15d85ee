// --k, --sigma and --temperature, in the place of what the memory holds.
#ifndef RESMEM_CLI_INPUTS_PARAMETER_OPTIONS_H_
#define RESMEM_CLI_INPUTS_PARAMETER_OPTIONS_H_

#include <optional>
#include <string>

#include "console/command_line.h"
#include "resmem/residual_memory.h"

namespace resmem::cli {

class ParameterOptions {
 public:
  // `default_text`: where a value that is not given comes from; empty: the library's own.
  void Declare(CommandLine& line, const std::string& default_text);
  bool given() const { return k_ || sigma_ || temperature_; }
  // `parameters` with what was given in its place, checked.  A regression has no T.
  Result<Parameters> Apply(Parameters parameters, Task task) const;

 private:
  std::optional<int64_t> k_;
  std::optional<float> sigma_, temperature_;
};

// "k = 53, sigma = 0.7, T = 1.4"; regression has no T.
std::string ParametersText(const Parameters& parameters, Task task);

}  // namespace resmem::cli

#endif  // RESMEM_CLI_INPUTS_PARAMETER_OPTIONS_H_
