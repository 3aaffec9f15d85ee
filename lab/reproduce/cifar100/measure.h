// The measurements that several experiments share.
#ifndef RESMEM_LAB_REPRODUCE_CIFAR100_MEASURE_H_
#define RESMEM_LAB_REPRODUCE_CIFAR100_MEASURE_H_

#include <optional>
#include <string>

#include "reproduce/cifar100/base.h"
#include "reproduce/json.h"
#include "resmem/evaluation.h"
#include "resmem/tuner.h"

namespace resmem::cli::reproduce::cifar100 {

// The paper's k, sigma and T for CIFAR-100.
inline constexpr Parameters kPaperParameters = {53, 0.7f, 1.4f};

struct JudgeOptions {
  bool baselines = false;  // k-NN, kNN-LM over lambdas, nearest class mean
  bool coarse = false;     // errors within the superclass
};
// Base and ResMem on these rows: parameters, base, resmem, gain, mean_residual_mass, and with
// baselines knn, nearest_class_mean, knn_lm (a list by lambda).
Result<Json> Judge(const Workspace& workspace, const ResidualMemory& memory, const Rows& rows,
                   const Parameters& parameters, const JudgeOptions& options = {});
Result<Evaluation> JudgeFully(const Workspace& workspace, const ResidualMemory& memory,
                              const Rows& rows, const Parameters& parameters,
                              const JudgeOptions& options = {});

// One choice of k, sigma and T: parameters, gain (on the rows it was chosen on), points.
struct Choice {
  Parameters parameters;
  Json json;
};
Result<Choice> Choose(const Workspace& workspace, const ResidualMemory& memory, const Rows& rows,
                      Objective objective, const Grid& grid = {});

// Median over the queries of the distance to the tenth neighbor, without labels: the unit of sigma.
Result<double> TypicalDistance(const Workspace& workspace, const ResidualMemory& memory,
                               const Rows& rows);

// Which parameters an analysis of this base uses: the paper's, and those tuned on held-out rows
// where the run has such.
struct NamedParameters {
  std::string name;  // "paper", "tuned"
  Parameters parameters;
};
std::vector<NamedParameters> ParametersFor(const Json& run_result);

}  // namespace resmem::cli::reproduce::cifar100

#endif  // RESMEM_LAB_REPRODUCE_CIFAR100_MEASURE_H_
