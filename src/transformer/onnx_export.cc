#include "transformer/onnx_export.h"

#include <onnx/onnx_pb.h>

#include <cmath>
#include <vector>

#include "resmem/version.h"
#include "support/file_system.h"
#include "support/text.h"

namespace resmem {
namespace {

using Integers = std::vector<int64_t>;

// Adds nodes one by one; each call gives the name of its output.
class GraphWriter {
 public:
  GraphWriter() {
    constexpr int64_t kIrVersion = 8, kOpset = 13;
    model_.set_ir_version(kIrVersion);
    model_.set_producer_name("resmem");
    model_.set_producer_version(Version());
    auto* opset = model_.add_opset_import();
    opset->set_domain("");
    opset->set_version(kOpset);
    model_.mutable_graph()->set_name("language model");
  }

  std::string Node(const char* type, const std::vector<std::string>& inputs) {
    auto* node = model_.mutable_graph()->add_node();
    node->set_op_type(type);
    for (const std::string& input : inputs) node->add_input(input);
    const std::string name = Text(type, "_", names_++);
    node->set_name(name);
    node->add_output(name);
    return name;
  }
  // Of the last node.
  void SetInteger(const char* name, int64_t value) {
    auto* attribute = Attribute(name, onnx::AttributeProto::INT);
    attribute->set_i(value);
  }
  void SetIntegers(const char* name, const Integers& values) {
    auto* attribute = Attribute(name, onnx::AttributeProto::INTS);
    for (const int64_t value : values) attribute->add_ints(value);
  }

  std::string Constant(const Integers& sides, std::span<const float> values) {
    auto* tensor = AddTensor(sides, onnx::TensorProto::FLOAT);
    tensor->set_raw_data(values.data(), values.size_bytes());
    return tensor->name();
  }
  std::string Constant(const Integers& sides, const Integers& values) {
    auto* tensor = AddTensor(sides, onnx::TensorProto::INT64);
    tensor->set_raw_data(values.data(), values.size() * sizeof(int64_t));
    return tensor->name();
  }

  void Input(const std::string& name) {
    Describe(model_.mutable_graph()->add_input(), name, onnx::TensorProto::INT64, 0);
  }
  void Output(const std::string& value, const std::string& name, int64_t columns) {
    auto* graph = model_.mutable_graph();
    Describe(graph->add_output(), name, onnx::TensorProto::FLOAT, columns);
    auto* node = graph->add_node();
    node->set_op_type("Identity");
    node->set_name(name);
    node->add_input(value);
    node->add_output(name);
  }

  Status Write(const std::string& path) const {
    std::string bytes;
    if (!model_.SerializeToString(&bytes)) {
      return Status(ErrorCode::kResourceExhausted, Text(path, ": the model exceeds 2 GB"));
    }
    return WriteFileAtomically(FileSystem::Posix(), path, std::as_bytes(std::span(bytes)));
  }

 private:
  onnx::AttributeProto* Attribute(const char* name, onnx::AttributeProto::AttributeType type) {
    auto* nodes = model_.mutable_graph()->mutable_node();
    auto* attribute = nodes->Mutable(nodes->size() - 1)->add_attribute();
    attribute->set_name(name);
    attribute->set_type(type);
    return attribute;
  }
  onnx::TensorProto* AddTensor(const Integers& sides, onnx::TensorProto::DataType type) {
    auto* tensor = model_.mutable_graph()->add_initializer();
    tensor->set_name(Text("constant_", names_++));
    tensor->set_data_type(type);
    for (const int64_t side : sides) tensor->add_dims(side);
    return tensor;
  }
  static void Describe(onnx::ValueInfoProto* value, const std::string& name, int type,
                       int64_t columns) {
    value->set_name(name);
    auto* tensor = value->mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(type);
    tensor->mutable_shape()->add_dim()->set_dim_param("windows");
    tensor->mutable_shape()->add_dim()->set_dim_param("positions");
    if (columns > 0) tensor->mutable_shape()->add_dim()->set_dim_value(columns);
  }

  onnx::ModelProto model_;
  int64_t names_ = 0;
};

class Exporter {
 public:
  Exporter(const LanguageModelShape& shape, const ParameterLayout& layout,
           std::span<const float> values, int64_t context)
      : shape_(shape), layout_(layout), values_(values), context_(context) {}

  Status Write(const std::string& path) {
    g_.Input(kTokensInput);
    const std::string embedding =
        g_.Constant({shape_.vocabulary, shape_.dim}, Of(layout_.embedding));
    const std::string bias = PositionBias();
    std::string x = g_.Node("Gather", {embedding, kTokensInput});
    for (const LayerParameters& layer : layout_.layers) {
      x = g_.Node("Add", {x, Attention(Norm(x, layer.attention_norm, 1), layer, bias)});
      const std::string normed = Norm(x, layer.mlp_norm, 1);
      if (&layer == &layout_.layers.back()) g_.Output(normed, kTokensEmbedding, shape_.dim);
      const std::string hidden = g_.Node("Relu", {Linear(normed, Of(layer.expansion))});
      x = g_.Node("Add", {x, Linear(hidden, Of(layer.contraction), shape_.hidden)});
    }
    const std::string last =
        Norm(x, layout_.last_norm, 1 / std::sqrt(static_cast<float>(shape_.dim)));
    const std::string turned = g_.Node("Transpose", {embedding});
    g_.Output(g_.Node("MatMul", {last, turned}), kTokensLogits, shape_.vocabulary);
    return g_.Write(path);
  }

 private:
  std::span<const float> Of(const Parameter& parameter) const {
    return values_.subspan(static_cast<size_t>(parameter.offset),
                           static_cast<size_t>(parameter.size()));
  }

  std::string Norm(const std::string& x, const Parameter& weight, float scale) {
    const float epsilon[] = {kNormEpsilon};
    const std::string mean = g_.Node("ReduceMean", {g_.Node("Mul", {x, x})});
    g_.SetIntegers("axes", {-1});
    const std::string size = g_.Node("Sqrt", {g_.Node("Add", {mean, g_.Constant({1}, epsilon)})});
    std::vector<float> weights(Of(weight).begin(), Of(weight).end());
    for (float& value : weights) value *= scale;
    return g_.Node("Mul", {g_.Node("Div", {x, size}), g_.Constant({shape_.dim}, weights)});
  }

  // x weight^T, the weight turned here: MatMul takes no transposed side.
  std::string Linear(const std::string& x, std::span<const float> weight, int64_t inputs = 0) {
    const auto columns = static_cast<size_t>(inputs > 0 ? inputs : shape_.dim);
    const size_t rows = weight.size() / columns;
    std::vector<float> turned(weight.size());
    for (size_t row = 0; row < rows; ++row) {
      for (size_t column = 0; column < columns; ++column) {
        turned[column * rows + row] = weight[row * columns + column];
      }
    }
    return g_.Node(
        "MatMul",
        {x, g_.Constant({static_cast<int64_t>(columns), static_cast<int64_t>(rows)}, turned)});
  }

  std::string Turned(const std::string& x, const Integers& order) {
    const std::string name = g_.Node("Transpose", {x});
    g_.SetIntegers("perm", order);
    return name;
  }

  // heads x positions x positions, with what lies ahead hidden.
  std::string PositionBias() {
    constexpr float kHidden = -1e9f;
    // A row a distance; the last is for what lies ahead.
    std::vector<float> table;
    const std::span<const float> learned = Of(layout_.position_bias);
    for (int64_t distance = 0; distance <= context_; ++distance) {
      for (int64_t head = 0; head < shape_.heads; ++head) {
        const int64_t place = head * kPositionBuckets + PositionBucket(distance);
        table.push_back(distance < context_ ? learned[static_cast<size_t>(place)] : kHidden);
      }
    }
    const std::string zero = g_.Constant({}, Integers{0}), one = g_.Constant({}, Integers{1});
    const std::string length = g_.Node("Gather", {g_.Node("Shape", {kTokensInput}), one});
    const std::string positions = g_.Node("Range", {zero, length, one});
    const std::string from = g_.Node("Unsqueeze", {positions, g_.Constant({1}, Integers{1})});
    const std::string distance = g_.Node("Sub", {from, positions});
    const std::string ahead = g_.Node("Less", {distance, zero});
    const std::string row =
        g_.Node("Where", {ahead, g_.Constant({}, Integers{context_}), distance});
    return Turned(g_.Node("Gather", {g_.Constant({context_ + 1, shape_.heads}, table), row}),
                  {2, 0, 1});
  }

  std::string Attention(const std::string& x, const LayerParameters& layer,
                        const std::string& bias) {
    const std::string apart = g_.Constant({4}, Integers{0, 0, shape_.heads, shape_.head_dim()});
    const auto part = static_cast<size_t>(shape_.dim * shape_.dim);
    const auto heads = [&](size_t which, const Integers& order) {
      const std::string all = Linear(x, Of(layer.qkv).subspan(which * part, part));
      return Turned(g_.Node("Reshape", {all, apart}), order);
    };
    const std::string queries = heads(0, {0, 2, 1, 3}), keys = heads(1, {0, 2, 3, 1});
    const std::string values = heads(2, {0, 2, 1, 3});
    const std::string scores = g_.Node("Add", {g_.Node("MatMul", {queries, keys}), bias});
    const std::string weights = g_.Node("Softmax", {scores});
    g_.SetInteger("axis", -1);
    const std::string sums = Turned(g_.Node("MatMul", {weights, values}), {0, 2, 1, 3});
    const std::string together = g_.Constant({3}, Integers{0, 0, shape_.dim});
    return Linear(g_.Node("Reshape", {sums, together}), Of(layer.projection));
  }

  const LanguageModelShape& shape_;
  const ParameterLayout& layout_;
  std::span<const float> values_;
  int64_t context_;
  GraphWriter g_;
};

}  // namespace

Status ExportLanguageModel(const std::string& path, const LanguageModelShape& shape,
                           const ParameterLayout& layout, std::span<const float> values,
                           int64_t context) {
  return Exporter(shape, layout, values, context).Write(path);
}

}  // namespace resmem
