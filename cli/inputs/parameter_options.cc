#include "inputs/parameter_options.h"

#include "console/format.h"

namespace resmem::cli {

void ParameterOptions::Declare(CommandLine& line, const std::string& default_text) {
  const Parameters own;
  const auto text = [&](double value) {
    return default_text.empty() ? ShortNumber(value) : default_text;
  };
  line.Group("Parameters");
  line.Value("--k", &k_, "N", "neighbors consulted; 0 gives the base's prediction")
      .Default(text(static_cast<double>(own.k)));
  line.Value("--sigma", &sigma_, "X",
             "bandwidth, above 0, in units of the key distances: weight = exp(-distance / sigma)")
      .Default(text(own.sigma));
  line.Value("--temperature", &temperature_, "X",
             "T, above 0: residual = onehot(label) - softmax(logits / T)")
      .Default(text(own.temperature));
}

Result<Parameters> ParameterOptions::Apply(Parameters parameters, Task task) const {
  if (task == Task::kRegression && temperature_.has_value()) {
    return Status(ErrorCode::kInvalidArgument,
                  "--temperature: a regression has no softmax and no T; leave it out");
  }
  if (k_.has_value() && *k_ < 0) {
    return Status(ErrorCode::kInvalidArgument,
                  "--k " + std::to_string(*k_) + ": give 0 or more neighbors");
  }
  parameters.k = k_.value_or(parameters.k);
  parameters.sigma = sigma_.value_or(parameters.sigma);
  parameters.temperature = temperature_.value_or(parameters.temperature);
  RESMEM_RETURN_IF_ERROR(CheckParameters(parameters));
  return parameters;
}

std::string ParametersText(const Parameters& parameters, Task task) {
  const std::string text =
      "k = " + Count(parameters.k) + ", sigma = " + ShortNumber(parameters.sigma);
  if (task == Task::kRegression) return text;
  return text + ", T = " + ShortNumber(parameters.temperature);
}

}  // namespace resmem::cli
