// The gradients of the matrices inside the layers, from what WindowPass left behind.
#ifndef RESMEM_LAB_LM_TRAINING_MATRIX_GRADIENTS_H_
#define RESMEM_LAB_LM_TRAINING_MATRIX_GRADIENTS_H_

#include "transformer/activations.h"

namespace resmem {

// Adds to `gradient`, which is laid out as the parameters, over the first `rows` rows (a multiple
// of 32).
void AddMatrixGradients(const ParameterLayout& layout, const Activations& activations, int64_t rows,
                        int threads, float* gradient);

}  // namespace resmem

#endif  // RESMEM_LAB_LM_TRAINING_MATRIX_GRADIENTS_H_
