#include "commands/simulation_options.h"

#include <limits>

#include "inputs/dataset_options.h"

namespace resmem::cli {
namespace {

Status AtOption(const char* option, const Status& status) {
  return Status(status.code(), std::string(option) + ": " + status.message());
}

Result<double> ParseSigma(const std::string& word) {
  if (word == "inf") return std::numeric_limits<double>::infinity();
  double value = 0;
  RESMEM_RETURN_IF_ERROR(ParseValue(word, &value));
  return value;
}

}  // namespace

void SimulationChoice::Declare(CommandLine& line) {
  line.Group("The paper's setting");
  line.Value("--dimensions", &options_.dimensions, "LIST", "d of the covariates, 1 to 100");
  line.Value("--bounds", &options_.bounds, "LIST",
             "L: the base's largest norm, 0 to below 1; the true one is 1");
  line.Value("--samples", &samples_, "RANGE",
             "n: FROM..TO in even logarithmic steps, or a list 10,50,200");
  line.Value("--steps", &steps_, "N", "points per factor of ten in a range of n");
  line.Value("--draws", &options_.draws, "N", "independent samples for each d and n, 2 or more");
  line.Value("--tests", &options_.tests, "N", "test points of each draw");
  line.Value("--seed", &options_.seed, "N", "seed of every draw");
  line.Value("--fit-from", &options_.fit_from, "N", "fit slopes from this n on")
      .Default("the middle of the logarithmic range");
  line.Group("Beyond the paper (every combination of these lists is run)");
  line.Value("--k", &k_, "LIST", "number of neighbors").Default("1");
  line.Value("--sigma", &sigma_, "LIST", "width of the weights exp(-distance / sigma)")
      .Default("inf, equal weights");
  line.Value("--noise", &noise_, "LIST", "standard deviation of the labels' noise").Default("0");
  line.Value("--target", &target_, "LIST", "the true function: linear, sine, quadratic or step")
      .Default("linear");
  line.Group("Speed");
  DeclareThreads(line, &options_.threads);
}

Status SimulationChoice::SetSamples(SimulationOptions* options) const {
  const size_t dots = samples_.find("..");
  if (dots == std::string::npos) return ParseValue(samples_, &options->samples);
  int64_t from = 0, to = 0;
  RESMEM_RETURN_IF_ERROR(ParseValue(samples_.substr(0, dots), &from));
  RESMEM_RETURN_IF_ERROR(ParseValue(samples_.substr(dots + 2), &to));
  if (from < 1 || to < from) {
    return Status(ErrorCode::kInvalidArgument,
                  "'" + samples_ + "' is not a range FROM..TO with 1 <= FROM <= TO");
  }
  if (steps_ < 1 || steps_ > 100) {
    return Status(ErrorCode::kInvalidArgument,
                  "--steps is " + std::to_string(steps_) + "; it must be from 1 to 100");
  }
  options->samples = LogarithmicSteps(from, to, steps_);
  return {};
}

Status SimulationChoice::SetSettings(SimulationOptions* options) const {
  if (k_.empty() && sigma_.empty() && noise_.empty() && target_.empty()) return {};
  const SimulationSetting paper;
  options->settings = {paper};
  // Multiplies the settings by the values of one list.
  const auto multiply = [&](const auto& values, const auto& set) -> Status {
    if (values.empty()) return {};
    std::vector<SimulationSetting> product;
    for (const SimulationSetting& setting : options->settings) {
      for (const auto& value : values) {
        product.push_back(setting);
        RESMEM_RETURN_IF_ERROR(set(value, &product.back()));
      }
    }
    options->settings = std::move(product);
    return {};
  };
  RESMEM_RETURN_IF_ERROR(multiply(target_, [](const std::string& word, SimulationSetting* s) {
    RESMEM_ASSIGN_OR_RETURN(s->target, ParseSimulationTarget(word));
    return Status();
  }));
  RESMEM_RETURN_IF_ERROR(multiply(noise_, [](double value, SimulationSetting* s) {
    s->noise = value;
    return Status();
  }));
  RESMEM_RETURN_IF_ERROR(multiply(k_, [](int64_t value, SimulationSetting* s) {
    s->k = value;
    return Status();
  }));
  return multiply(sigma_, [](const std::string& word, SimulationSetting* s) {
    const Result<double> sigma = ParseSigma(word);
    if (!sigma.ok()) return AtOption("--sigma", sigma.status());
    s->sigma = *sigma;
    return Status();
  });
}

Result<SimulationOptions> SimulationChoice::Options() const {
  SimulationOptions options = options_;
  const Status samples = SetSamples(&options);
  if (!samples.ok()) return AtOption("--samples", samples);
  RESMEM_RETURN_IF_ERROR(SetSettings(&options));
  return options;
}

}  // namespace resmem::cli
