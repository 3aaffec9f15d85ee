#include "onnx/graph/graph_index.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <array>
#include <deque>
#include <string_view>

#include "onnx/graph/tensor_data.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr size_t kMostCandidates = 8;

template <size_t kCount>
bool IsOneOf(const std::string& word, const std::array<std::string_view, kCount>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// What a layer's output may be made by.  Convolutions are not here: their images are no vectors.
bool MakesVectors(const std::string& op) {
  static constexpr std::array<std::string_view, 23> kOperators = {"GlobalAveragePool",
                                                                  "GlobalMaxPool",
                                                                  "AveragePool",
                                                                  "MaxPool",
                                                                  "ReduceMean",
                                                                  "ReduceMax",
                                                                  "Flatten",
                                                                  "Reshape",
                                                                  "Squeeze",
                                                                  "Gather",
                                                                  "Relu",
                                                                  "LeakyRelu",
                                                                  "Gelu",
                                                                  "Tanh",
                                                                  "Sigmoid",
                                                                  "HardSwish",
                                                                  "Clip",
                                                                  "LayerNormalization",
                                                                  "BatchNormalization",
                                                                  "LpNormalization",
                                                                  "Gemm",
                                                                  "MatMul",
                                                                  "Add"};
  return IsOneOf(op, kOperators);
}

// Values pass through in the same shape.
bool KeepsShape(const std::string& op) {
  static constexpr std::array<std::string_view, 12> kOperators = {"Relu",
                                                                  "LeakyRelu",
                                                                  "Gelu",
                                                                  "Tanh",
                                                                  "Sigmoid",
                                                                  "HardSwish",
                                                                  "Clip",
                                                                  "LayerNormalization",
                                                                  "BatchNormalization",
                                                                  "LpNormalization",
                                                                  "Identity",
                                                                  "Dropout"};
  return IsOneOf(op, kOperators);
}

bool Pools(const std::string& op) {
  return op == "GlobalAveragePool" || op == "GlobalMaxPool";
}

bool IsHead(const std::string& op) {
  return op == "Gemm" || op == "MatMul";
}

// What may stand between the last layer and the logits.
bool FollowsHead(const std::string& op) {
  static constexpr std::array<std::string_view, 12> kOperators = {
      "Add", "Cast",    "Clip",  "Div",     "Gather",    "Identity",
      "Mul", "Reshape", "Slice", "Squeeze", "Transpose", "Tanh"};
  return IsOneOf(op, kOperators) || op == "Unsqueeze";
}

OnnxTensor FromValueInfo(const onnx::ValueInfoProto& info) {
  OnnxTensor tensor;
  tensor.name = info.name();
  if (!info.type().has_tensor_type()) return tensor;
  const onnx::TypeProto::Tensor& type = info.type().tensor_type();
  if (type.elem_type() != 0) tensor.type = TensorTypeName(type.elem_type());
  for (const auto& dimension : type.shape().dim()) {
    if (dimension.has_dim_value()) {
      tensor.shape.push_back(Text(dimension.dim_value()));
    } else {
      tensor.shape.push_back(dimension.dim_param().empty() ? "?" : dimension.dim_param());
    }
  }
  return tensor;
}

size_t Edits(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, changed});
    }
  }
  return row[b.size()];
}

}  // namespace

GraphIndex::GraphIndex(const onnx::GraphProto& graph) : graph_(graph) {
  for (const onnx::TensorProto& tensor : graph.initializer()) {
    initializers_[tensor.name()] = &tensor;
    constants_.insert(tensor.name());
  }
  for (const onnx::SparseTensorProto& tensor : graph.sparse_initializer()) {
    constants_.insert(tensor.values().name());
  }
  for (const auto* list : {&graph.value_info(), &graph.input(), &graph.output()}) {
    for (const onnx::ValueInfoProto& info : *list) described_[info.name()] = FromValueInfo(info);
  }
  // Nodes come after those whose outputs they read.
  for (const onnx::NodeProto& node : graph.node()) {
    // A tensor's shape is no data either: what follows from it only steers a Reshape.
    const bool constant = node.op_type() == "Shape" ||
                          std::all_of(node.input().begin(), node.input().end(),
                                      [&](auto& name) { return name.empty() || IsConstant(name); });
    for (const std::string& output : node.output()) {
      makers_[output] = &node;
      if (constant) constants_.insert(output);
    }
  }
}

const onnx::NodeProto* GraphIndex::Maker(const std::string& tensor) const {
  const auto found = makers_.find(tensor);
  return found == makers_.end() ? nullptr : found->second;
}

std::vector<std::string> GraphIndex::Data(const onnx::NodeProto& node) const {
  std::vector<std::string> data;
  for (const std::string& input : node.input()) {
    if (!input.empty() && !IsConstant(input)) data.push_back(input);
  }
  return data;
}

OnnxTensor GraphIndex::Describe(const std::string& tensor) const {
  OnnxTensor description;
  const auto found = described_.find(tensor);
  if (found != described_.end()) description = found->second;
  description.name = tensor;
  if (const onnx::NodeProto* maker = Maker(tensor)) description.made_by = maker->op_type();
  return description;
}

std::vector<OnnxTensor> GraphIndex::Inputs() const {
  std::vector<OnnxTensor> inputs;
  for (const onnx::ValueInfoProto& info : graph_.input()) {
    if (!IsConstant(info.name())) inputs.push_back(Describe(info.name()));
  }
  return inputs;
}

std::vector<OnnxTensor> GraphIndex::Outputs() const {
  std::vector<OnnxTensor> outputs;
  for (const onnx::ValueInfoProto& info : graph_.output()) outputs.push_back(Describe(info.name()));
  return outputs;
}

bool GraphIndex::IsLayer(const onnx::NodeProto& node, const GraphIndex& index) {
  // With weights: a product of two computed tensors is attention, not a layer.
  return IsHead(node.op_type()) && node.input_size() >= 2 && index.IsConstant(node.input(1)) &&
         !index.IsConstant(node.input(0));
}

const onnx::NodeProto* GraphIndex::Head() const {
  for (auto node = graph_.node().rbegin(); node != graph_.node().rend(); ++node) {
    if (IsLayer(*node, *this)) return &*node;
  }
  return nullptr;
}

const onnx::NodeProto* GraphIndex::HeadOf(const std::string& logits) const {
  constexpr int kMostSteps = 16;
  std::string tensor = logits;
  for (int step = 0; step < kMostSteps; ++step) {
    const onnx::NodeProto* maker = Maker(tensor);
    if (maker == nullptr || IsLayer(*maker, *this)) return maker;
    if (!FollowsHead(maker->op_type())) return nullptr;
    const std::vector<std::string> data = Data(*maker);
    if (data.empty()) return nullptr;
    tensor = data[0];
  }
  return nullptr;
}

int64_t GraphIndex::Columns(const onnx::NodeProto& head) const {
  const auto weights = initializers_.find(head.input(1));
  if (weights == initializers_.end() || weights->second->dims_size() != 2) return 0;
  bool transposed = false;
  for (const onnx::AttributeProto& attribute : head.attribute()) {
    if (attribute.name() == "transB") transposed = attribute.i() != 0;
  }
  return weights->second->dims(transposed ? 1 : 0);
}

std::vector<OnnxTensor> GraphIndex::Candidates() const {
  return CandidatesOf(Head());
}

std::vector<OnnxTensor> GraphIndex::CandidatesBefore(const std::string& logits) const {
  return CandidatesOf(HeadOf(logits));
}

std::vector<OnnxTensor> GraphIndex::CandidatesOf(const onnx::NodeProto* head) const {
  if (head == nullptr) return {};
  const int64_t columns = Columns(*head);
  std::vector<OnnxTensor> candidates;
  // Backwards, nearest first.  `same`: as many values a row as the head reads.
  struct Step {
    std::string tensor;
    bool same;
  };
  std::deque<Step> ahead = {{head->input(0), true}};
  std::set<std::string> seen = {head->input(0)};
  while (!ahead.empty() && candidates.size() < kMostCandidates) {
    const Step step = ahead.front();
    ahead.pop_front();
    OnnxTensor tensor = Describe(step.tensor);
    const bool first = step.tensor == head->input(0);
    const onnx::NodeProto* maker = Maker(step.tensor);
    if (tensor.shape.empty() && step.same && columns > 0) {
      tensor.shape = {"?", Text(columns)};
      if (Pools(tensor.made_by)) {
        tensor.shape.insert(tensor.shape.end(), {"1", "1"});
      }
    }
    if (first || MakesVectors(tensor.made_by)) candidates.push_back(tensor);
    // Before a pooling lie maps, not vectors.
    if (maker == nullptr || Pools(maker->op_type())) continue;
    const bool reshapes = maker->op_type() == "Flatten" || maker->op_type() == "Squeeze" ||
                          maker->op_type() == "Reshape";
    for (const std::string& input : Data(*maker)) {
      if (!seen.insert(input).second) continue;
      const onnx::NodeProto* before = Maker(input);
      const bool pooled = before != nullptr && Pools(before->op_type());
      ahead.push_back({input, step.same && (KeepsShape(maker->op_type()) || (reshapes && pooled))});
    }
  }
  return candidates;
}

std::string GraphIndex::Logits() const {
  std::string logits;
  const auto named = std::find_if(graph_.output().begin(), graph_.output().end(),
                                  [](auto& output) { return output.name() == "logits"; });
  if (graph_.output_size() == 1) {
    logits = graph_.output(0).name();
  } else if (named != graph_.output().end()) {
    logits = named->name();
  } else if (const onnx::NodeProto* head = Head()) {
    std::set<std::string> after(head->output().begin(), head->output().end());
    for (const onnx::NodeProto& node : graph_.node()) {
      const bool follows = std::any_of(node.input().begin(), node.input().end(),
                                       [&](auto& name) { return after.count(name) != 0; });
      if (follows) after.insert(node.output().begin(), node.output().end());
    }
    for (const onnx::ValueInfoProto& output : graph_.output()) {
      if (logits.empty() && after.count(output.name()) != 0) logits = output.name();
    }
  }
  const onnx::NodeProto* maker = Maker(logits);
  if (maker != nullptr && maker->op_type() == "Softmax" && maker->input_size() == 1) {
    return maker->input(0);
  }
  return logits;
}

bool GraphIndex::Knows(const std::string& tensor) const {
  return Maker(tensor) != nullptr || described_.count(tensor) != 0;
}

std::vector<std::string> GraphIndex::Like(const std::string& tensor) const {
  constexpr size_t kLongest = 200;  // the comparison's cost is the product of the lengths
  constexpr size_t kMost = 3;
  std::vector<std::pair<size_t, std::string>> names;
  for (const auto& [name, maker] : makers_) {
    if (name.size() <= kLongest && !name.empty()) {
      names.emplace_back(Edits(tensor.substr(0, kLongest), name), name);
    }
  }
  std::sort(names.begin(), names.end());
  std::vector<std::string> like;
  for (size_t i = 0; i < std::min(kMost, names.size()); ++i) like.push_back(names[i].second);
  return like;
}

}  // namespace resmem
