// The blend's answer taken apart.
#ifndef RESMEM_PREDICT_EXPLAIN_BLEND_H_
#define RESMEM_PREDICT_EXPLAIN_BLEND_H_

#include <span>

#include "predict/correction.h"
#include "resmem/predictor.h"

namespace resmem {

// Neighbor i without its share.
Explanation::Line LineOf(const ResidualMemory& memory, const WeightedNeighbors& weighted,
                         std::span<const float> distances, size_t i);

// Sets everything but `score`, which is the answer, of one query's neighbors.  Requires a blend.
void ExplainBlend(const ResidualMemory& memory, std::span<const float> logits,
                  const Neighbors& neighbors, const PredictOptions& options,
                  Explanation* explanation);

}  // namespace resmem

#endif  // RESMEM_PREDICT_EXPLAIN_BLEND_H_
