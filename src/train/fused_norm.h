// Batch normalisation, a shortcut's sum and the activation in two passes over memory instead of
// libtorch's six, for channels-last tensors on the CPU; elsewhere libtorch's own operations.
// Sums are taken in pieces of fixed size: the same bits for any number of threads.
#ifndef RESMEM_TRAIN_FUSED_NORM_H_
#define RESMEM_TRAIN_FUSED_NORM_H_

#include <torch/torch.h>

namespace resmem::train {

enum class Activation { kNone, kRelu, kRelu6 };

struct NormState {
  torch::Tensor weight, bias;                   // learned
  torch::Tensor running_mean, running_variance;  // moved by `momentum` a training step
  double momentum = 0.1;
  double epsilon = 1e-5;
};

// activation(norm(x) + shortcut); the shortcut may be undefined.
torch::Tensor FusedNorm(const torch::Tensor& x, const NormState& norm, bool training,
                        const torch::Tensor& shortcut, Activation activation);

}  // namespace resmem::train

#endif  // RESMEM_TRAIN_FUSED_NORM_H_
