// The base's last layer fitted once more on held-out rows: what is to be had without a memory.
//
//   softmax(scale f + W z + offset), W by a ridge towards 0 that two-fold cross-validation chooses
//
// L-BFGS on the mean negative log-likelihood.  Cost: at most some 10^10 multiplications, whatever
// the rows and classes: a subset of the rows is used where they are many.
#ifndef RESMEM_TUNE_RIVALS_LAST_LAYER_H_
#define RESMEM_TUNE_RIVALS_LAST_LAYER_H_

#include <optional>

#include "tune/rivals/rival_grid.h"

namespace resmem {

struct LastLayerFit {
  Rivals::LastLayer layer;
  double ridge = 0;
  RivalSums judged;  // by two folds, at the ridge that was chosen for both
};

// None where the rows' keys were not kept (Rivals::LastLayer::kMostWeights) or are too few.
std::optional<LastLayerFit> FitLastLayer(const ValidationRows& rows, const TuneOptions& options);

}  // namespace resmem

#endif  // RESMEM_TUNE_RIVALS_LAST_LAYER_H_
