// Uniform points in a ball, and unit vectors.
#ifndef RESMEM_LAB_THEORY_BALL_H_
#define RESMEM_LAB_THEORY_BALL_H_

#include <cstdint>
#include <span>

#include "support/random.h"

namespace resmem {

// sqrt(d + 2): the radius at which a uniform point has E xx^T = I.
double BallRadius(int64_t dimension);

// Fills `points` (count x dimension) with independent uniform points of that ball.
void DrawInBall(int64_t dimension, Random* random, std::span<float> points);

// Uniform on the unit sphere.
void DrawDirection(Random* random, std::span<double> direction);

}  // namespace resmem

#endif  // RESMEM_LAB_THEORY_BALL_H_
