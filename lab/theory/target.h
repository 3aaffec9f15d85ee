// The true function of u = <x, theta*>, and what a base of bounded norm can learn of it.
#ifndef RESMEM_LAB_THEORY_TARGET_H_
#define RESMEM_LAB_THEORY_TARGET_H_

#include <cstdint>

#include "theory/simulation.h"

namespace resmem {

double TargetValue(SimulationTarget target, double u);

// Moments over x uniform in the ball of radius sqrt(d + 2).
struct TargetMoments {
  double slope = 0;            // E u f(u): E x f(x) = slope * theta*
  double square = 0;           // E f(u)^2
  double gradient = 0;         // E f'(u)
  double gradient_square = 0;  // E f'(u)^2; infinite for a jump
};
TargetMoments ComputeTargetMoments(SimulationTarget target, int64_t dimension);

// The best linear function of norm <= bound is <x, BestSlope * theta*>.
double BestSlope(const TargetMoments& moments, double bound);
// Its risk: what the base tends to.
double Plateau(const TargetMoments& moments, double bound);
// What ResMem's risk over k-NN's tends to without noise.  Near neighbors see the gradient alone,
// and lie in no preferred direction: E |grad f - theta|^2 / E |grad f|^2.
double RatioLimit(const TargetMoments& moments, double bound);

}  // namespace resmem

#endif  // RESMEM_LAB_THEORY_TARGET_H_
