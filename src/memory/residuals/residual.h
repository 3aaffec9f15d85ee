// What the base model got wrong about one training example: onehot(label) - softmax(logits / T).
// Its entries sum to 0.
#ifndef RESMEM_MEMORY_RESIDUALS_RESIDUAL_H_
#define RESMEM_MEMORY_RESIDUALS_RESIDUAL_H_

#include <cstdint>

namespace resmem {

// Sets out[0 .. classes).  Requires 0 <= label < classes, temperature > 0.  `out` may be `logits`.
void ClassificationResidual(const float* logits, int64_t classes, int32_t label, float temperature,
                            float* out);

// Keeps the `top` entries of largest magnitude, the smaller class first among equals, and writes
// them in ascending order of class.  Requires 1 <= top <= classes.  Returns the dropped mass, the
// sum of |value| of the entries left out.
double SelectTop(const float* residual, int64_t classes, int64_t top, uint32_t* kept_classes,
                 float* kept_values);

// Half the sum of |value|: 0 where the base was certain and right, near 1 where it was certain and
// wrong.
double ResidualMass(const float* residual, int64_t classes);

}  // namespace resmem

#endif  // RESMEM_MEMORY_RESIDUALS_RESIDUAL_H_
