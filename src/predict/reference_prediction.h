// ResMem's prediction as the paper writes it, in double and without any of our kernels: what the
// quick way in correction.h must agree with, as reference_search.h is for the search.
#ifndef RESMEM_PREDICT_REFERENCE_PREDICTION_H_
#define RESMEM_PREDICT_REFERENCE_PREDICTION_H_

#include <cstdint>
#include <span>
#include <vector>

#include "resmem/residual_memory.h"

namespace resmem {

// s(x) = softmax(f(x) / T) + sum_i w_i r_i; regression: f(x) + sum_i w_i r_i.  `rows` and
// `distances`: the neighbors of x that count, nearest first.
std::vector<double> ReferencePrediction(const ResidualMemory& memory, std::span<const float> logits,
                                        std::span<const int64_t> rows,
                                        std::span<const float> distances,
                                        const Parameters& parameters);

}  // namespace resmem

#endif  // RESMEM_PREDICT_REFERENCE_PREDICTION_H_
