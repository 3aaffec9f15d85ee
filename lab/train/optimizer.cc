#include "train/optimizer.h"

namespace resmem::train {

Optimizer::Optimizer(std::vector<torch::Tensor> parameters, double momentum, bool nesterov,
                     double weight_decay)
    : parameters_(std::move(parameters)),
      momentum_(momentum),
      nesterov_(nesterov),
      weight_decay_(weight_decay) {
  for (const torch::Tensor& parameter : parameters_) {
    velocities_.push_back(torch::zeros_like(parameter.detach()));
  }
}

void Optimizer::ZeroGradients() {
  for (torch::Tensor& parameter : parameters_) parameter.mutable_grad().reset();
}

void Optimizer::Step(double rate) {
  torch::NoGradGuard no_gradient;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    torch::Tensor& parameter = parameters_[i];
    if (!parameter.grad().defined()) continue;
    torch::Tensor gradient = parameter.grad();
    if (weight_decay_ > 0) gradient = gradient.add(parameter, weight_decay_);
    velocities_[i].mul_(momentum_).add_(gradient);
    if (nesterov_) {
      parameter.add_(gradient.add(velocities_[i], momentum_), -rate);
    } else {
      parameter.add_(velocities_[i], -rate);
    }
  }
}

}  // namespace resmem::train
