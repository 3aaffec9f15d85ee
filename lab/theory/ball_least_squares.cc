#include "theory/ball_least_squares.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace resmem {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// The lambda > 0 with |theta(lambda)| = bound, theta_i = b_i / (s_i + lambda), knowing that
// |theta(0)| > bound.  Newton on 1 / |theta(lambda)| = 1 / bound: the left side is increasing,
// concave and nearly straight, so the steps from lambda = 0 climb to the root without passing it
// but for rounding, which the bracket catches.
double SolveSecularEquation(const Eigen::ArrayXd& s, const Eigen::ArrayXd& b, double bound) {
  double low = 0;
  double high = b.matrix().norm() / bound;  // |theta| <= |b| / lambda
  double lambda = 0;
  for (int step = 0; step < 200; ++step) {
    const Eigen::ArrayXd theta = b / (s + lambda);
    const double norm = theta.matrix().norm();
    (norm > bound ? low : high) = lambda;
    const double decay = (theta.square() / (s + lambda)).sum() / (norm * norm);
    double next = lambda + (norm / bound - 1) / decay;
    if (!(next >= low && next <= high)) next = low + (high - low) / 2;
    if (std::abs(next - lambda) <= kEpsilon * next) return next;
    lambda = next;
  }
  return lambda;
}

}  // namespace

BallLeastSquares::BallLeastSquares(Eigen::MatrixXd gram) : gram_(std::move(gram)), eigen_(gram_) {}

BallSolution BallLeastSquares::Solve(const Eigen::VectorXd& b, double bound) const {
  BallSolution solution;
  const Eigen::Index dimension = gram_.rows();
  const double b_norm = b.norm();
  if (bound == 0 || b_norm == 0) {
    // theta = 0 is optimal, for b = 0 inside the ball; for bound = 0 lambda would be infinite.
    solution.theta = Eigen::VectorXd::Zero(dimension);
    solution.on_boundary = bound == 0;
    return solution;
  }

  // Directions that the sample does not span carry rounding only: theta is 0 there.
  const Eigen::ArrayXd all = eigen_.eigenvalues().array();
  const double floor = kEpsilon * static_cast<double>(dimension) * all(dimension - 1);
  Eigen::Index null = 0;
  while (null < dimension && all(null) <= floor) ++null;
  const Eigen::Index rank = dimension - null;
  const auto basis = eigen_.eigenvectors().rightCols(rank);
  const Eigen::ArrayXd s = all.tail(rank);
  const Eigen::ArrayXd coordinates = (basis.transpose() * b).array();

  solution.on_boundary = (coordinates / s).matrix().norm() > bound;
  if (solution.on_boundary) solution.lambda = SolveSecularEquation(s, coordinates, bound);
  solution.theta = basis * (coordinates / (s + solution.lambda)).matrix();

  const Eigen::VectorXd gradient = gram_ * solution.theta + solution.lambda * solution.theta - b;
  solution.kkt_residual = gradient.norm() / b_norm;
  if (solution.on_boundary) {
    solution.kkt_residual =
        std::max(solution.kkt_residual, std::abs(solution.theta.norm() / bound - 1));
  }
  return solution;
}

}  // namespace resmem
