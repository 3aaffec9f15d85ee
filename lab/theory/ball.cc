#include "theory/ball.h"

#include <cmath>
#include <vector>

namespace resmem {

double BallRadius(int64_t dimension) {
  return std::sqrt(static_cast<double>(dimension) + 2.0);
}

void DrawDirection(Random* random, std::span<double> direction) {
  double square = 0;
  while (square == 0) {
    for (double& value : direction) {
      value = random->Normal();
      square += value * value;
    }
  }
  const double norm = std::sqrt(square);
  for (double& value : direction) value /= norm;
}

void DrawInBall(int64_t dimension, Random* random, std::span<float> points) {
  const auto width = static_cast<size_t>(dimension);
  const double radius = BallRadius(dimension);
  const double inverse = 1.0 / static_cast<double>(dimension);
  std::vector<double> direction(width);
  for (size_t begin = 0; begin < points.size(); begin += width) {
    DrawDirection(random, direction);
    const double length = radius * std::pow(random->Uniform(), inverse);
    for (size_t i = 0; i < width; ++i) {
      points[begin + i] = static_cast<float>(length * direction[i]);
    }
  }
}

}  // namespace resmem
