// The risks of one draw: base, k-NN and ResMem on the same sample and the same neighbors.
#ifndef RESMEM_LAB_THEORY_DRAW_H_
#define RESMEM_LAB_THEORY_DRAW_H_

#include <span>
#include <vector>

#include "theory/sample.h"
#include "theory/simulation.h"
#include "theory/target.h"

namespace resmem {

// Means over the test points; see SimulationPoint.
struct DrawRisks {
  double base = 0, knn = 0, resmem = 0;
  double t1 = 0, t2 = 0, noise_part = 0;
  double decomposition = 0;
  double z = 0;
  double kkt_residual = 0;
  bool interior = false;
  bool violated = false;
};

// settings x bounds, bounds fastest.  `neighbors` holds at least the largest k, or all n;
// `moments` those of each setting's target.
std::vector<DrawRisks> EvaluateDraw(const Sample& sample, const Neighbors& neighbors,
                                    std::span<const SimulationSetting> settings,
                                    std::span<const TargetMoments> moments,
                                    std::span<const double> bounds);

}  // namespace resmem

#endif  // RESMEM_LAB_THEORY_DRAW_H_
