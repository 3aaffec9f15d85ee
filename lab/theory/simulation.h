// The paper's stylized linear regression as a simulation (docs/theory.md).
//
//   x uniform in the ball of radius sqrt(d + 2) in R^d, so that E xx^T = I
//   y = f(x) + noise,  f(x) = <x, theta*> with |theta*| = 1 in the paper
//   base (ERM): least squares over |theta| <= L < 1, which cannot reach theta*
//   k-NN: the weighted mean label of the k nearest;  ResMem: base + the same mean of residuals
//
// Risks are mean squared errors against the true f(x), over fresh test points, averaged over
// independent draws of the sample.  A point's numbers depend on the seed, d, n, L and the
// setting alone: not on the thread count, nor on what else is in the run.
#ifndef RESMEM_LAB_THEORY_SIMULATION_H_
#define RESMEM_LAB_THEORY_SIMULATION_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "resmem/progress.h"
#include "resmem/status.h"

namespace resmem {

// f as a function of u = <x, theta*>.
enum class SimulationTarget {
  kLinear,     // u: the paper's
  kSine,       // sin(2u): the base learns a part
  kQuadratic,  // u^2 - 1: the base learns nothing
  kStep,       // the sign of u: near to linear, with a jump
};
const char* SimulationTargetName(SimulationTarget target);  // "linear", ...
Result<SimulationTarget> ParseSimulationTarget(std::string_view name);

// The defaults are the paper's.
struct SimulationSetting {
  int64_t k = 1;
  double sigma = std::numeric_limits<double>::infinity();  // weights exp(-d / sigma); inf: equal
  double noise = 0;  // standard deviation of the labels' Gaussian noise
  SimulationTarget target = SimulationTarget::kLinear;
  bool operator==(const SimulationSetting&) const = default;
};
// "k=10 sigma=0.5 noise=0.5 sine": what differs from the paper, or "paper".
std::string SimulationSettingName(const SimulationSetting& setting);

// The paper's setting, then one step beyond it in each direction.
std::vector<SimulationSetting> DefaultSimulationSettings();

// from, ..., to in even steps on the logarithmic scale, rounded, both ends included.
// Requires 1 <= from <= to and per_decade >= 1.
std::vector<int64_t> LogarithmicSteps(int64_t from, int64_t to, int64_t per_decade);

struct SimulationOptions {
  std::vector<int64_t> dimensions = {1, 2, 3, 5};
  std::vector<double> bounds = {0.25, 0.5, 0.9};                    // L; 0 makes ResMem pure k-NN
  std::vector<int64_t> samples = LogarithmicSteps(10, 1000000, 2);  // n, increasing
  std::vector<SimulationSetting> settings = DefaultSimulationSettings();
  int64_t draws = 20;    // of the sample, >= 2
  int64_t tests = 1000;  // test points a draw
  uint64_t seed = 1;
  // Slopes are fitted to n >= fit_from; 0: the upper half of the samples' logarithmic range.
  int64_t fit_from = 0;
  int threads = 0;
  Progress* progress = nullptr;
};

// A mean over draws with its standard error.
struct Estimate {
  double mean = 0, error = 0;
};

struct SimulationPoint {
  int64_t n = 0;
  Estimate base, knn, resmem;  // risks
  // The paper's parts of ResMem's risk, with the weighted mean over neighbors in place of the
  // single neighbor; `noise_part` is the mean square of the neighbors' mean noise.
  Estimate t1, t2, noise_part;
  Estimate decomposition;    // 3 (t1 + t2), or 4 (t1 + t2 + noise_part) with noise: >= resmem
  Estimate z;                // Z_n = |x - x_nn|^2
  double z_bound = 0;        // d^2 [log(n^(1/d)) / n]^(1/d)
  double theorem_bound = 0;  // d^2 L^2 n^(-2/3) + (1-L)^2 z_bound, up to a constant
  Estimate knn_minus_resmem, base_minus_resmem;  // paired by draw
  int64_t violations = 0;                        // draws with resmem > decomposition
  int64_t interior_draws = 0;  // draws whose least-squares optimum lies inside |theta| <= L
  double kkt_residual = 0;     // largest over draws, relative
};

struct Slope {
  double value = 0, error = 0;
};
// d log(mean) / d log(n), by weighted least squares over the points with n >= fit_from; the error
// is widened where the points do not lie on a line.  Nothing where fewer than two points are
// left or a mean is no more than rounding.
struct SimulationSlopes {
  std::optional<Slope> knn, resmem, t1, t2, z;
  double proved_t1 = 0;  // -2/3
  double proved_t2 = 0;  // of z_bound over the same n: near -1/d, its logarithm included
};

enum class SimulationRival { kLabels, kBase };  // k-NN on labels; the base alone
// From which n on, among those measured, ResMem's risk and a rival's do not change places.
struct Crossover {
  bool decided = false;      // at the largest n they differ by more than two standard errors
  bool resmem_wins = false;  // there
  bool from_start = false;   // so at every n measured
  double from = 0;           // otherwise where the curves cross, interpolated
};

struct SimulationCurve {
  int64_t dimension = 0;
  double bound = 0;  // L
  SimulationSetting setting;
  double plateau = 0;                   // what the base's risk tends to: (1-L)^2 in the paper
  double ratio_limit = 0;               // what ResMem's risk over k-NN's tends to: also (1-L)^2
  std::vector<SimulationPoint> points;  // by n
  SimulationSlopes slopes;
  Crossover against_labels, against_base;
};

struct SimulationResult {
  SimulationOptions options;            // as run; progress is nullptr
  int64_t fit_from = 0;                 // as used
  std::vector<SimulationCurve> curves;  // setting slowest, then dimension, then bound
  int64_t violations = 0;   // over all points; anything but 0 would contradict the paper
  double kkt_residual = 0;  // largest over all points
  double seconds = 0;
};

// Errors: kInvalidArgument (an option, with its value and what is allowed), kCancelled.
Result<SimulationResult> RunSimulation(const SimulationOptions& options);

// For people: the tables of the paper's setting (or of every setting, with `all`), slopes beside
// proved rates, crossovers.  Markdown, which reads as plain text too.
std::string SimulationText(const SimulationResult& result, bool all = false);
// One line a point, every column, full precision.
std::string SimulationCsv(const SimulationResult& result);
// An image: risks against n on logarithmic axes, a column for each dimension and a row for each
// bound.  `setting`: its place in the options, < options.settings.size().
std::string SimulationSvg(const SimulationResult& result, size_t setting = 0);

}  // namespace resmem

#endif  // RESMEM_LAB_THEORY_SIMULATION_H_
