#include "onnx/test_graphs.h"

namespace resmem::fixtures {
namespace {

void Describe(onnx::ValueInfoProto* value, const std::string& name,
              const std::vector<int64_t>& sides) {
  value->set_name(name);
  auto* type = value->mutable_type()->mutable_tensor_type();
  type->set_elem_type(onnx::TensorProto::FLOAT);
  for (const int64_t side : sides) {
    auto* dimension = type->mutable_shape()->add_dim();
    if (side < 0) {
      dimension->set_dim_param("n");
    } else {
      dimension->set_dim_value(side);
    }
  }
}

}  // namespace

void GraphMaker::Input(const std::string& name, const std::vector<int64_t>& sides) {
  Describe(graph().add_input(), name, sides);
}

void GraphMaker::Output(const std::string& name, const std::vector<int64_t>& sides) {
  Describe(graph().add_output(), name, sides);
}

onnx::TensorProto& GraphMaker::Weights(const std::string& name, const std::vector<int64_t>& sides,
                                       const std::vector<float>& values) {
  onnx::TensorProto* tensor = graph().add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(onnx::TensorProto::FLOAT);
  for (const int64_t side : sides) tensor->add_dims(side);
  tensor->set_raw_data(values.data(), values.size() * sizeof(float));
  return *tensor;
}

onnx::NodeProto& GraphMaker::Node(const std::string& op, const std::vector<std::string>& inputs,
                                  const std::string& output) {
  onnx::NodeProto* node = graph().add_node();
  node->set_op_type(op);
  for (const std::string& input : inputs) node->add_input(input);
  node->add_output(output);
  return *node;
}

void GraphMaker::SetInteger(onnx::NodeProto& node, const std::string& name, int64_t value) {
  onnx::AttributeProto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::INT);
  attribute->set_i(value);
}

void GraphMaker::SetIntegers(onnx::NodeProto& node, const std::string& name,
                             const std::vector<int64_t>& values) {
  onnx::AttributeProto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::INTS);
  for (const int64_t value : values) attribute->add_ints(value);
}

GraphMaker Table() {
  GraphMaker maker;
  maker.Input("x", {-1, 3});
  maker.Weights("w1", {3, 2}, {1, 0, 1, 0, 0, 1});
  maker.Weights("b1", {2}, {0, -1});
  maker.Weights("w2", {2, 2}, {2, -1, 0, 1});  // transposed
  maker.Weights("b2", {2}, {0, 1});
  maker.Node("Gemm", {"x", "w1", "b1"}, "before");
  maker.Node("Relu", {"before"}, "h");
  GraphMaker::SetInteger(maker.Node("Gemm", {"h", "w2", "b2"}, "y"), "transB", 1);
  maker.Output("y", {-1, 2});
  return maker;
}

GraphMaker Image() {
  GraphMaker maker;
  maker.Input("image", {-1, 3, 2, 2});
  maker.Weights("w", {2, 3, 1, 1}, {1, 0, 0, 0, 1, 1});
  maker.Weights("head", {2, 3}, {1, 0, 1, 0, 1, 1});
  maker.Weights("bias", {3}, {0, 0, 0});
  maker.Node("Conv", {"image", "w"}, "conv");
  maker.Node("GlobalAveragePool", {"conv"}, "pool");
  maker.Node("Flatten", {"pool"}, "flat");
  maker.Node("Gemm", {"flat", "head", "bias"}, "y");
  maker.Output("y", {-1, 3});
  return maker;
}

std::string WhyNoRuntime() {
  const auto runtime = Runtime::Load("");
  return runtime.ok() ? "" : runtime.status().message();
}

}  // namespace resmem::fixtures
