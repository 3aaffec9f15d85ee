// Least squares over the ball |theta| <= bound, to machine precision.
//
// minimize theta^T S theta - 2 b^T theta, S = X^T X / n, b = X^T y / n.  Either the optimum of
// least norm lies in the ball, or theta = (S + lambda I)^-1 b with the one lambda > 0 for which
// |theta| = bound.
#ifndef RESMEM_LAB_THEORY_BALL_LEAST_SQUARES_H_
#define RESMEM_LAB_THEORY_BALL_LEAST_SQUARES_H_

#include <Eigen/Dense>

namespace resmem {

struct BallSolution {
  Eigen::VectorXd theta;
  double lambda = 0;
  bool on_boundary = false;
  // The larger of |S theta + lambda theta - b| / |b| and, on the boundary, | |theta| / bound - 1 |.
  double kkt_residual = 0;
};

// Decomposes S once; Solve() may then be called for any number of b and bounds.
class BallLeastSquares {
 public:
  // `gram` is symmetric and positive semidefinite.
  explicit BallLeastSquares(Eigen::MatrixXd gram);
  // `b` lies in the range of S, up to rounding; bound >= 0.
  BallSolution Solve(const Eigen::VectorXd& b, double bound) const;

 private:
  Eigen::MatrixXd gram_;
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen_;
};

}  // namespace resmem

#endif  // RESMEM_LAB_THEORY_BALL_LEAST_SQUARES_H_
