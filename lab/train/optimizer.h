// Stochastic gradient descent with momentum, as libtorch's, with its state in plain sight.
#ifndef RESMEM_LAB_TRAIN_OPTIMIZER_H_
#define RESMEM_LAB_TRAIN_OPTIMIZER_H_

#include <torch/torch.h>

#include <vector>

namespace resmem::train {

class Optimizer {
 public:
  Optimizer(std::vector<torch::Tensor> parameters, double momentum, bool nesterov,
            double weight_decay);
  void ZeroGradients();
  void Step(double rate);
  // One a parameter; part of a checkpoint.
  std::vector<torch::Tensor>& velocities() { return velocities_; }

 private:
  std::vector<torch::Tensor> parameters_, velocities_;
  double momentum_;
  bool nesterov_;
  double weight_decay_;
};

}  // namespace resmem::train

#endif  // RESMEM_LAB_TRAIN_OPTIMIZER_H_
