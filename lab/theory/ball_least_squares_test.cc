#include "theory/ball_least_squares.h"

#include <gtest/gtest.h>

#include "support/random.h"

namespace resmem {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// X^T X / n of `rows` normal rows, whose columns are scaled by 1, shrink, shrink^2, ...
MatrixXd RandomRows(int rows, int dimension, double shrink, uint64_t seed) {
  Random random(seed);
  MatrixXd x(rows, dimension);
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < dimension; ++j) x(i, j) = random.Normal() * std::pow(shrink, j);
  }
  return x;
}

VectorXd UnitVector(int dimension, uint64_t seed) {
  Random random(seed, 1);
  VectorXd v(dimension);
  for (int i = 0; i < dimension; ++i) v(i) = random.Normal();
  return v.normalized();
}

double SquaredLoss(const MatrixXd& gram, const VectorXd& b, const VectorXd& theta) {
  return theta.dot(gram * theta) - 2 * b.dot(theta);
}

TEST(BallLeastSquares, NormIsTheBoundAndOptimalityHoldsToMachinePrecision) {
  uint64_t seed = 0;
  for (int d : {1, 2, 5, 20}) {
    for (double shrink : {1.0, 0.5, 0.2}) {
      if (std::pow(shrink, 2 * d) < 1e-10) continue;
      const MatrixXd x = RandomRows(4 * d, d, shrink, ++seed);
      const MatrixXd gram = x.transpose() * x / (4.0 * d);
      const VectorXd star = UnitVector(d, seed);
      const BallLeastSquares solver(gram);
      for (double bound : {1e-9, 0.01, 0.5, 0.9, 0.999999, 1 - 1e-12}) {
        const BallSolution solution = solver.Solve(gram * star, bound);
        EXPECT_TRUE(solution.on_boundary);
        EXPECT_GT(solution.lambda, 0);
        EXPECT_NEAR(solution.theta.norm() / bound, 1, 4e-15) << d << " " << shrink << " " << bound;
        EXPECT_LT(solution.kkt_residual, 2e-14) << d << " " << shrink << " " << bound;
      }
    }
  }
}

TEST(BallLeastSquares, NoOtherPointOfTheBallIsBetter) {
  const int d = 4;
  const MatrixXd x = RandomRows(9, d, 0.6, 5);
  const MatrixXd gram = x.transpose() * x / 9.0;
  const VectorXd b = gram * UnitVector(d, 5);
  const double bound = 0.4;
  const BallSolution solution = BallLeastSquares(gram).Solve(b, bound);
  const double best = SquaredLoss(gram, b, solution.theta);
  Random random(9);
  for (int i = 0; i < 2000; ++i) {
    VectorXd other(d);
    for (int j = 0; j < d; ++j) other(j) = random.Normal();
    // Far and near, and always brought back into the ball.
    other = i % 2 == 0 ? other : solution.theta + 1e-3 * other;
    other *= bound / std::max(bound, other.norm());
    EXPECT_GE(SquaredLoss(gram, b, other), best - 1e-15);
  }
}

TEST(BallLeastSquares, AnOptimumInsideTheBallIsKept) {
  const MatrixXd x = RandomRows(30, 3, 1, 2);
  const MatrixXd gram = x.transpose() * x / 30.0;
  const VectorXd inside = 0.3 * UnitVector(3, 2);
  const BallSolution solution = BallLeastSquares(gram).Solve(gram * inside, 0.5);
  EXPECT_FALSE(solution.on_boundary);
  EXPECT_EQ(solution.lambda, 0);
  EXPECT_LT((solution.theta - inside).norm(), 1e-14);
}

TEST(BallLeastSquares, FewerRowsThanDimensionsGiveTheOptimumOfLeastNorm) {
  const int d = 6;
  const MatrixXd x = RandomRows(2, d, 1, 8);
  const MatrixXd gram = x.transpose() * x / 2.0;
  const VectorXd star = UnitVector(d, 8);
  // The projection of theta* on the rows' span, by another road.
  const VectorXd projection = x.transpose() * (x * x.transpose()).ldlt().solve(VectorXd(x * star));
  const BallLeastSquares solver(gram);
  const BallSolution inside = solver.Solve(gram * star, projection.norm() + 0.01);
  EXPECT_FALSE(inside.on_boundary);
  EXPECT_LT((inside.theta - projection).norm(), 1e-13);
  const BallSolution bounded = solver.Solve(gram * star, projection.norm() / 2);
  EXPECT_TRUE(bounded.on_boundary);
  EXPECT_LT(bounded.kkt_residual, 1e-14);
}

TEST(BallLeastSquares, BoundOfZeroGivesZero) {
  const MatrixXd gram = MatrixXd::Identity(2, 2);
  const BallSolution solution = BallLeastSquares(gram).Solve(VectorXd::Ones(2), 0);
  EXPECT_EQ(solution.theta.norm(), 0);
  EXPECT_EQ(solution.kkt_residual, 0);
}

}  // namespace
}  // namespace resmem
