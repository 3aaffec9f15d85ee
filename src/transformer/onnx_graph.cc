#include "transformer/onnx_graph.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "resmem/version.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr float kHidden = -1e9f;  // the bias of what lies ahead

using Integers = std::vector<int64_t>;

// Adds nodes one by one; each call gives the name of its output.
class GraphWriter {
 public:
  GraphWriter(onnx::ModelProto* model, std::vector<GraphTensor>* tensors)
      : model_(*model), tensors_(*tensors) {
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

  std::string Constant(const Integers& sides, const GraphTensor& tensor) {
    tensors_.push_back(tensor);
    return AddTensor(sides, onnx::TensorProto::FLOAT)->name();
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

  onnx::ModelProto& model_;
  std::vector<GraphTensor>& tensors_;
  int64_t names_ = 0;
};

class Builder {
 public:
  Builder(const LanguageModelShape& shape, const ParameterLayout& layout, int64_t context,
          LanguageModelGraph* graph)
      : shape_(shape), layout_(layout), context_(context), g_(&graph->model, &graph->tensors) {}

  void Build() {
    g_.Input(kTokensInput);
    const std::string embedding =
        g_.Constant({shape_.vocabulary, shape_.dim},
                    {GraphTensor::Kind::kAsItIs, layout_.embedding, 0, shape_.vocabulary});
    const std::string bias = PositionBias();
    std::string x = g_.Node("Gather", {embedding, kTokensInput});
    for (const LayerParameters& layer : layout_.layers) {
      x = g_.Node("Add", {x, Attention(Norm(x, layer.attention_norm, 1), layer, bias)});
      const std::string normed = Norm(x, layer.mlp_norm, 1);
      if (&layer == &layout_.layers.back()) g_.Output(normed, kTokensEmbedding, shape_.dim);
      const std::string hidden = g_.Node("Relu", {Linear(normed, layer.expansion)});
      x = g_.Node("Add", {x, Linear(hidden, layer.contraction)});
    }
    const std::string last =
        Norm(x, layout_.last_norm, 1 / std::sqrt(static_cast<float>(shape_.dim)));
    const std::string turned = g_.Node("Transpose", {embedding});
    g_.Output(g_.Node("MatMul", {last, turned}), kTokensLogits, shape_.vocabulary);
  }

 private:
  std::string Norm(const std::string& x, const Parameter& weight, float scale) {
    const std::string mean = g_.Node("ReduceMean", {g_.Node("Mul", {x, x})});
    g_.SetIntegers("axes", {-1});
    const std::string epsilon = g_.Constant({1}, GraphTensor{});
    const std::string size = g_.Node("Sqrt", {g_.Node("Add", {mean, epsilon})});
    const std::string unit = g_.Node("Div", {x, size});
    return g_.Node("Mul", {unit, g_.Constant({shape_.dim},
                                             {GraphTensor::Kind::kAsItIs, weight, 0, 1, scale})});
  }

  // x weight^T, the weight turned: MatMul takes no transposed side.
  std::string Linear(const std::string& x, const Parameter& weight) {
    return Linear(x, weight, 0, weight.rows);
  }
  std::string Linear(const std::string& x, const Parameter& weight, int64_t first, int64_t rows) {
    return g_.Node("MatMul", {x, g_.Constant({weight.columns, rows},
                                             {GraphTensor::Kind::kTurned, weight, first, rows})});
  }

  std::string Turned(const std::string& x, const Integers& order) {
    const std::string name = g_.Node("Transpose", {x});
    g_.SetIntegers("perm", order);
    return name;
  }

  // heads x positions x positions, with what lies ahead hidden.
  std::string PositionBias() {
    const std::string zero = g_.Constant({}, Integers{0}), one = g_.Constant({}, Integers{1});
    const std::string length = g_.Node("Gather", {g_.Node("Shape", {kTokensInput}), one});
    const std::string positions = g_.Node("Range", {zero, length, one});
    const std::string from = g_.Node("Unsqueeze", {positions, g_.Constant({1}, Integers{1})});
    const std::string distance = g_.Node("Sub", {from, positions});
    const std::string ahead = g_.Node("Less", {distance, zero});
    const std::string row =
        g_.Node("Where", {ahead, g_.Constant({}, Integers{context_}), distance});
    const std::string table =
        g_.Constant({context_ + 1, shape_.heads},
                    {GraphTensor::Kind::kBias, layout_.position_bias, 0, context_});
    return Turned(g_.Node("Gather", {table, row}), {2, 0, 1});
  }

  std::string Attention(const std::string& x, const LayerParameters& layer,
                        const std::string& bias) {
    const std::string apart = g_.Constant({4}, Integers{0, 0, shape_.heads, shape_.head_dim()});
    const auto heads = [&](int64_t which, const Integers& order) {
      const std::string all = Linear(x, layer.qkv, which * shape_.dim, shape_.dim);
      return Turned(g_.Node("Reshape", {all, apart}), order);
    };
    const std::string queries = heads(0, {0, 2, 1, 3}), keys = heads(1, {0, 2, 3, 1});
    const std::string values = heads(2, {0, 2, 1, 3});
    const std::string scores = g_.Node("Add", {g_.Node("MatMul", {queries, keys}), bias});
    const std::string weights = g_.Node("Softmax", {scores});
    g_.SetInteger("axis", -1);
    const std::string sums = Turned(g_.Node("MatMul", {weights, values}), {0, 2, 1, 3});
    const std::string together = g_.Constant({3}, Integers{0, 0, shape_.dim});
    return Linear(g_.Node("Reshape", {sums, together}), layer.projection);
  }

  const LanguageModelShape& shape_;
  const ParameterLayout& layout_;
  int64_t context_;
  GraphWriter g_;
};

}  // namespace

LanguageModelGraph::LanguageModelGraph(const LanguageModelShape& shape,
                                       const ParameterLayout& layout, int64_t context) {
  Builder(shape, layout, context, this).Build();
}

int64_t GraphTensor::size() const {
  switch (kind) {
    case Kind::kAsItIs:
    case Kind::kTurned:
      return rows * parameter.columns;
    case Kind::kBias:
      return (rows + 1) * parameter.rows;
    case Kind::kEpsilon:
      break;
  }
  return 1;
}

void GraphTensor::Store(std::span<const float> values, float* out) const {
  const float* const from = values.data() + parameter.offset + first_row * parameter.columns;
  switch (kind) {
    case Kind::kAsItIs:
      for (int64_t i = 0; i < size(); ++i) out[i] = from[i] * scale;
      break;
    case Kind::kTurned:
      for (int64_t row = 0; row < rows; ++row) {
        for (int64_t column = 0; column < parameter.columns; ++column) {
          out[column * rows + row] = from[row * parameter.columns + column];
        }
      }
      break;
    case Kind::kBias:
      for (int64_t distance = 0; distance <= rows; ++distance) {
        for (int64_t head = 0; head < parameter.rows; ++head) {
          *out++ =
              distance < rows ? from[head * kPositionBuckets + PositionBucket(distance)] : kHidden;
        }
      }
      break;
    case Kind::kEpsilon:
      *out = kNormEpsilon;
      break;
  }
}

bool GraphTensor::Load(std::span<const float> tensor, std::span<float> values) const {
  float* const to = values.data() + parameter.offset + first_row * parameter.columns;
  const float* from = tensor.data();
  switch (kind) {
    case Kind::kAsItIs:
      for (int64_t i = 0; i < size(); ++i) to[i] = from[i] / scale;
      return true;
    case Kind::kTurned:
      for (int64_t row = 0; row < rows; ++row) {
        for (int64_t column = 0; column < parameter.columns; ++column) {
          to[row * parameter.columns + column] = from[column * rows + row];
        }
      }
      return true;
    case Kind::kBias: {
      for (int64_t distance = 0; distance < rows; ++distance) {
        for (int64_t head = 0; head < parameter.rows; ++head) {
          to[head * kPositionBuckets + PositionBucket(distance)] = *from++;
        }
      }
      std::vector<float> again(tensor.size());
      Store(values, again.data());
      return std::equal(tensor.begin(), tensor.end(), again.begin());
    }
    case Kind::kEpsilon:
      return *from == kNormEpsilon;
  }
  return false;
}

}  // namespace resmem
