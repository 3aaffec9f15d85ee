// Writes an ONNX graph node by node; each call gives the name of its output.
#ifndef RESMEM_LAB_TRAIN_ONNX_GRAPH_H_
#define RESMEM_LAB_TRAIN_ONNX_GRAPH_H_

#include <torch/torch.h>

#include <memory>
#include <string>
#include <vector>

#include "resmem/status.h"

namespace resmem::train {

class OnnxGraph {
 public:
  OnnxGraph();
  ~OnnxGraph();

  // The first dimension, the rows, is left open.
  std::string Input(const std::string& name, const std::vector<int64_t>& row_shape);
  std::string Conv(const std::string& input, const torch::Tensor& weight, const torch::Tensor& bias,
                   int64_t stride, int64_t padding, int64_t groups);
  std::string Relu(const std::string& input);
  std::string Relu6(const std::string& input);
  std::string Add(const std::string& a, const std::string& b);
  std::string GlobalAveragePool(const std::string& input);  // and flattened to rows x channels
  // input * weight^T + bias, weight as libtorch keeps it: outputs x inputs.
  std::string Linear(const std::string& input, const torch::Tensor& weight,
                     const torch::Tensor& bias);
  // input * scale + shift, by column.
  std::string ScaleShift(const std::string& input, const torch::Tensor& scale,
                         const torch::Tensor& shift);
  // Gives a value its public name.
  void Output(const std::string& value, const std::string& name, int64_t columns);

  // Atomically.
  Status Write(const std::string& path) const;

 private:
  struct Model;  // the protobuf class, kept out of this header
  std::string Node(const char* type, const std::vector<std::string>& inputs);
  std::string Constant(const torch::Tensor& values);

  std::unique_ptr<Model> model_;
};

}  // namespace resmem::train

#endif  // RESMEM_LAB_TRAIN_ONNX_GRAPH_H_
