// --method: whose answer is asked for, in the place of the memory's own.
#ifndef RESMEM_CLI_INPUTS_ANSWER_OPTIONS_H_
#define RESMEM_CLI_INPUTS_ANSWER_OPTIONS_H_

#include "inputs/parameter_options.h"
#include "resmem/predictor.h"

namespace resmem::cli {

class AnswerOptions {
 public:
  // Also --k, --sigma and --temperature.
  void Declare(CommandLine& line);
  bool given() const { return parameters_.given() || !method_.empty(); }
  // The memory's own answer unless another was asked for.  kInvalidArgument where parameters were
  // given for an answer whose parameters were fitted.
  Result<PredictOptions> Choose(const Predictor& predictor) const;
  // The same where changes against the base are shown: ResMem's in the place of a base's own.
  Result<PredictOptions> ChooseShown(const Predictor& predictor) const;
  // ResMem's, k-NN's and kNN-LM's.
  Result<Parameters> ResMemParameters(const MemoryDescription& description) const;

 private:
  std::string method_;
  ParameterOptions parameters_;
};

// --unknown-rate: how many rows like those that tuning saw may be called unknown.
class UnknownRate {
 public:
  void Declare(CommandLine& line);
  // kInvalidArgument where it was given for a memory that cannot tell, or is no share.
  Status Apply(const Predictor& predictor, const std::string& memory_path,
               PredictOptions* options) const;

 private:
  std::optional<double> rate_;
};

// "ResMem", "blend".
std::string AnswerName(Method method);

// "blend (k = 50, sigma = 0.31, T = 1.4)"; ResMem without its name.
std::string AnswerText(Method method, const Parameters& parameters, Task task);

}  // namespace resmem::cli

#endif  // RESMEM_CLI_INPUTS_ANSWER_OPTIONS_H_
