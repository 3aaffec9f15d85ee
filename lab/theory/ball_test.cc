#include "theory/ball.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace resmem {
namespace {

TEST(Ball, CovarianceIsTheIdentity) {
  const int64_t points = 100000;
  for (int64_t d : {1, 2, 3, 7}) {
    Random random(11);
    std::vector<float> x(static_cast<size_t>(points * d));
    DrawInBall(d, &random, x);
    for (int64_t i = 0; i < d; ++i) {
      for (int64_t j = 0; j <= i; ++j) {
        double sum = 0, squares = 0;
        for (int64_t p = 0; p < points; ++p) {
          const double product = static_cast<double>(x[static_cast<size_t>(p * d + i)]) *
                                 x[static_cast<size_t>(p * d + j)];
          sum += product;
          squares += product * product;
        }
        const double mean = sum / points;
        const double error = std::sqrt((squares / points - mean * mean) / points);
        EXPECT_NEAR(mean, i == j ? 1 : 0, 4.5 * error) << "d " << d << ", " << i << "," << j;
      }
    }
  }
}

TEST(Ball, RadiusIsDistributedAsTheVolume) {
  const int points = 50000;
  for (int64_t d : {1, 2, 5}) {
    Random random(3);
    std::vector<float> x(static_cast<size_t>(points * d));
    DrawInBall(d, &random, x);
    int inner = 0;
    for (int p = 0; p < points; ++p) {
      double square = 0;
      for (int64_t i = 0; i < d; ++i) square += std::pow(x[static_cast<size_t>(p * d + i)], 2);
      ASSERT_LE(std::sqrt(square), BallRadius(d) * (1 + 1e-6));
      inner += std::sqrt(square) < 0.7 * BallRadius(d) ? 1 : 0;
    }
    const double expected = std::pow(0.7, static_cast<double>(d));
    EXPECT_NEAR(static_cast<double>(inner) / points, expected, 0.01);
  }
}

TEST(Ball, DirectionsHaveUnitNorm) {
  Random random(5);
  for (size_t d : {1, 2, 50}) {
    std::vector<double> direction(d);
    DrawDirection(&random, direction);
    double square = 0;
    for (double value : direction) square += value * value;
    EXPECT_NEAR(square, 1, 1e-14);
  }
}

}  // namespace
}  // namespace resmem
