#include "train/onnx_graph.h"

#include <onnx/onnx_pb.h>

#include "resmem/version.h"
#include "support/file_system.h"
#include "support/text.h"

namespace resmem::train {
namespace {

constexpr int64_t kIrVersion = 8;
constexpr int64_t kOpset = 13;

void SetFloatShape(onnx::ValueInfoProto* value, const std::string& name,
                   const std::vector<int64_t>& row_shape) {
  value->set_name(name);
  auto* type = value->mutable_type()->mutable_tensor_type();
  type->set_elem_type(onnx::TensorProto::FLOAT);
  type->mutable_shape()->add_dim()->set_dim_param("rows");
  for (const int64_t size : row_shape) type->mutable_shape()->add_dim()->set_dim_value(size);
}

void SetIntegers(onnx::NodeProto* node, const char* name, std::initializer_list<int64_t> values) {
  auto* attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::INTS);
  for (const int64_t value : values) attribute->add_ints(value);
}

void SetInteger(onnx::NodeProto* node, const char* name, int64_t value) {
  auto* attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::INT);
  attribute->set_i(value);
}

}  // namespace

struct OnnxGraph::Model {
  onnx::ModelProto proto;
  int64_t values = 0;  // names given so far

  std::string NewName(const char* kind) { return Text(kind, "_", values++); }
  onnx::NodeProto* LastNode() {
    auto* nodes = proto.mutable_graph()->mutable_node();
    return nodes->Mutable(nodes->size() - 1);
  }
};

OnnxGraph::OnnxGraph() : model_(std::make_unique<Model>()) {
  auto& proto = model_->proto;
  proto.set_ir_version(kIrVersion);
  proto.set_producer_name("resmem");
  proto.set_producer_version(Version());
  auto* opset = proto.add_opset_import();
  opset->set_domain("");
  opset->set_version(kOpset);
  proto.mutable_graph()->set_name("base");
}
OnnxGraph::~OnnxGraph() = default;

std::string OnnxGraph::Node(const char* type, const std::vector<std::string>& inputs) {
  auto* node = model_->proto.mutable_graph()->add_node();
  node->set_op_type(type);
  for (const std::string& input : inputs) node->add_input(input);
  const std::string name = model_->NewName(type);
  node->set_name(name);
  node->add_output(name);
  return name;
}

std::string OnnxGraph::Constant(const torch::Tensor& values) {
  const torch::Tensor plain =
      values.detach().to(torch::kCPU, torch::kFloat).contiguous(at::MemoryFormat::Contiguous);
  auto* tensor = model_->proto.mutable_graph()->add_initializer();
  const std::string name = model_->NewName("weights");
  tensor->set_name(name);
  tensor->set_data_type(onnx::TensorProto::FLOAT);
  for (const int64_t size : plain.sizes()) tensor->add_dims(size);
  tensor->set_raw_data(plain.data_ptr<float>(), static_cast<size_t>(plain.numel()) * sizeof(float));
  return name;
}

std::string OnnxGraph::Input(const std::string& name, const std::vector<int64_t>& row_shape) {
  SetFloatShape(model_->proto.mutable_graph()->add_input(), name, row_shape);
  return name;
}

std::string OnnxGraph::Conv(const std::string& input, const torch::Tensor& weight,
                            const torch::Tensor& bias, int64_t stride, int64_t padding,
                            int64_t groups) {
  const std::string output = Node("Conv", {input, Constant(weight), Constant(bias)});
  onnx::NodeProto* node = model_->LastNode();
  SetIntegers(node, "kernel_shape", {weight.size(2), weight.size(3)});
  SetIntegers(node, "strides", {stride, stride});
  SetIntegers(node, "pads", {padding, padding, padding, padding});
  SetInteger(node, "group", groups);
  return output;
}

std::string OnnxGraph::Relu(const std::string& input) {
  return Node("Relu", {input});
}

std::string OnnxGraph::Relu6(const std::string& input) {
  return Node("Clip", {input, Constant(torch::tensor(0.0f)), Constant(torch::tensor(6.0f))});
}

std::string OnnxGraph::Add(const std::string& a, const std::string& b) {
  return Node("Add", {a, b});
}

std::string OnnxGraph::GlobalAveragePool(const std::string& input) {
  return Node("Flatten", {Node("GlobalAveragePool", {input})});
}

std::string OnnxGraph::Linear(const std::string& input, const torch::Tensor& weight,
                              const torch::Tensor& bias) {
  const std::string output = Node("Gemm", {input, Constant(weight), Constant(bias)});
  SetInteger(model_->LastNode(), "transB", 1);
  return output;
}

std::string OnnxGraph::ScaleShift(const std::string& input, const torch::Tensor& scale,
                                  const torch::Tensor& shift) {
  return Node("Add", {Node("Mul", {input, Constant(scale)}), Constant(shift)});
}

void OnnxGraph::Output(const std::string& value, const std::string& name, int64_t columns) {
  auto* graph = model_->proto.mutable_graph();
  SetFloatShape(graph->add_output(), name, {columns});
  auto* node = graph->add_node();
  node->set_op_type("Identity");
  node->set_name(name);
  node->add_input(value);
  node->add_output(name);
}

Status OnnxGraph::Write(const std::string& path) const {
  std::string bytes;
  if (!model_->proto.SerializeToString(&bytes)) {
    return Status(ErrorCode::kResourceExhausted, Text(path, ": the model exceeds 2 GB"));
  }
  return WriteFileAtomically(FileSystem::Posix(), path,
                             std::as_bytes(std::span(bytes.data(), bytes.size())));
}

}  // namespace resmem::train
