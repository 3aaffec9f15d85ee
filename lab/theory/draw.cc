#include "theory/draw.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "support/check.h"
#include "theory/ball_least_squares.h"

namespace resmem {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// X^T X / n.
MatrixXd Gram(const Sample& sample) {
  const Index width = sample.dimension;
  MatrixXd gram = MatrixXd::Zero(width, width);
  for (int64_t row = 0; row < sample.n; ++row) {
    const float* x = sample.covariate(row).data();
    for (Index i = 0; i < width; ++i) {
      for (Index j = i; j < width; ++j) gram(j, i) += static_cast<double>(x[i]) * x[j];
    }
  }
  gram.triangularView<Eigen::StrictlyUpper>() = gram.transpose();
  return gram / static_cast<double>(sample.n);
}

// X^T v / n for the vector v of values(row).
template <typename Values>
VectorXd Correlation(const Sample& sample, const Values& values) {
  VectorXd sum = VectorXd::Zero(sample.dimension);
  for (int64_t row = 0; row < sample.n; ++row) {
    const std::span<const float> x = sample.covariate(row);
    const double value = values(row);
    for (size_t i = 0; i < x.size(); ++i) {
      sum(static_cast<Index>(i)) += static_cast<double>(x[i]) * value;
    }
  }
  return sum / static_cast<double>(sample.n);
}

double TrueValue(const Sample& sample, SimulationTarget target, std::span<const float> x) {
  return TargetValue(target, Dot(x, sample.direction));
}

// What a setting's neighbors say of one test point: weighted means of their covariates, true
// values and noise.  A linear function of the mean covariate is the mean of the function.
struct NeighborMean {
  VectorXd covariate;
  double value = 0;
  double noise = 0;
};

NeighborMean MeanOfNeighbors(const Sample& sample, const Neighbors& neighbors, int64_t test,
                             const SimulationSetting& setting) {
  const std::span<const int64_t> rows = neighbors.rows_of(test);
  const std::span<const float> distances = neighbors.distances_of(test);
  NeighborMean mean;
  mean.covariate = VectorXd::Zero(sample.dimension);
  double total = 0;
  const int64_t count = std::min({setting.k, sample.n, neighbors.k});
  for (int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<size_t>(i);
    const double weight =
        std::exp(-(static_cast<double>(distances[at]) - distances[0]) / setting.sigma);
    const std::span<const float> x = sample.covariate(rows[at]);
    for (Index j = 0; j < sample.dimension; ++j) {
      mean.covariate(j) += weight * static_cast<double>(x[static_cast<size_t>(j)]);
    }
    mean.value += weight * TrueValue(sample, setting.target, x);
    if (setting.noise > 0) mean.noise += weight * sample.noise[static_cast<size_t>(rows[at])];
    total += weight;
  }
  mean.covariate /= total;
  mean.value /= total;
  mean.noise *= setting.noise / total;
  return mean;
}

double Square(double x) {
  return x * x;
}

double MeanNearestDistanceSquare(const Sample& sample, const Neighbors& neighbors) {
  double sum = 0;
  for (int64_t t = 0; t < sample.tests; ++t) {
    const std::span<const float> a = sample.test_point(t);
    const std::span<const float> b = sample.covariate(neighbors.rows_of(t)[0]);
    for (size_t i = 0; i < a.size(); ++i) sum += Square(static_cast<double>(a[i]) - b[i]);
  }
  return sum / static_cast<double>(sample.tests);
}

// Per test point, what does not depend on the bound.
struct TestPoint {
  VectorXd x;
  double truth = 0;
  NeighborMean mean;
};

std::vector<TestPoint> PrepareTests(const Sample& sample, const Neighbors& neighbors,
                                    const SimulationSetting& setting) {
  std::vector<TestPoint> tests(static_cast<size_t>(sample.tests));
  for (int64_t t = 0; t < sample.tests; ++t) {
    TestPoint& test = tests[static_cast<size_t>(t)];
    const std::span<const float> x = sample.test_point(t);
    test.x = Eigen::Map<const Eigen::VectorXf>(x.data(), sample.dimension).cast<double>();
    test.truth = TrueValue(sample, setting.target, x);
    test.mean = MeanOfNeighbors(sample, neighbors, t, setting);
  }
  return tests;
}

DrawRisks RisksOfBound(const std::vector<TestPoint>& tests, const VectorXd& theta,
                       const VectorXd& theta_limit, bool with_noise) {
  DrawRisks risks;
  for (const TestPoint& test : tests) {
    const VectorXd& mean_x = test.mean.covariate;
    const double label = test.mean.value + test.mean.noise;
    const double base = theta.dot(test.x);
    const double resmem = base + (label - theta.dot(mean_x));
    risks.base += Square(base - test.truth);
    risks.knn += Square(label - test.truth);
    risks.resmem += Square(resmem - test.truth);

    const double limit = theta_limit.dot(test.x);
    const double mean_limit = theta_limit.dot(mean_x);
    risks.t1 += Square(base - limit) + Square(theta.dot(mean_x) - mean_limit);
    risks.t2 += Square((test.truth - limit) - (test.mean.value - mean_limit));
    risks.noise_part += Square(test.mean.noise);
  }
  const double share = 1.0 / static_cast<double>(tests.size());
  for (double* sum :
       {&risks.base, &risks.knn, &risks.resmem, &risks.t1, &risks.t2, &risks.noise_part}) {
    *sum *= share;
  }
  // (a + b + c)^2 <= 3 (a^2 + b^2 + c^2), and the same with the noise as a fourth part.
  risks.decomposition = (with_noise ? 4 : 3) * (risks.t1 + risks.t2 + risks.noise_part);
  // Each value is a sum of numbers of order 1, good to about 1e-15.
  risks.violated = risks.resmem > risks.decomposition * (1 + 1e-12) + 1e-28;
  return risks;
}

}  // namespace

std::vector<DrawRisks> EvaluateDraw(const Sample& sample, const Neighbors& neighbors,
                                    std::span<const SimulationSetting> settings,
                                    std::span<const TargetMoments> moments,
                                    std::span<const double> bounds) {
  RESMEM_DCHECK(moments.size() == settings.size());
  const BallLeastSquares least_squares(Gram(sample));
  const VectorXd direction = Eigen::Map<const VectorXd>(sample.direction.data(), sample.dimension);
  VectorXd noise_correlation = VectorXd::Zero(sample.dimension);
  if (!sample.noise.empty()) {
    noise_correlation =
        Correlation(sample, [&](int64_t row) { return sample.noise[static_cast<size_t>(row)]; });
  }
  const double z = MeanNearestDistanceSquare(sample, neighbors);

  std::map<SimulationTarget, VectorXd> target_correlations;
  std::vector<DrawRisks> all;
  for (size_t s = 0; s < settings.size(); ++s) {
    const SimulationSetting& setting = settings[s];
    RESMEM_DCHECK(setting.noise == 0 || !sample.noise.empty());
    const auto [correlation, is_new] = target_correlations.try_emplace(setting.target);
    if (is_new) {
      correlation->second = Correlation(sample, [&](int64_t row) {
        return TrueValue(sample, setting.target, sample.covariate(row));
      });
    }
    const VectorXd b = correlation->second + setting.noise * noise_correlation;
    const std::vector<TestPoint> tests = PrepareTests(sample, neighbors, setting);
    for (double bound : bounds) {
      const BallSolution solution = least_squares.Solve(b, bound);
      const VectorXd theta_limit = BestSlope(moments[s], bound) * direction;
      DrawRisks risks = RisksOfBound(tests, solution.theta, theta_limit, setting.noise > 0);
      risks.z = z;
      risks.kkt_residual = solution.kkt_residual;
      risks.interior = !solution.on_boundary;
      all.push_back(risks);
    }
  }
  return all;
}

}  // namespace resmem
