// Who makes which tensor of a graph, and which tensors may serve as embedding and logits.
#ifndef RESMEM_ONNX_GRAPH_GRAPH_INDEX_H_
#define RESMEM_ONNX_GRAPH_GRAPH_INDEX_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "onnx/graph/graph_file.h"
#include "resmem/models/onnx_model.h"

namespace resmem {

// Of the model's own graph, not of those inside its nodes.  Refers to the graph, which must not
// change in the meantime.
class GraphIndex {
 public:
  explicit GraphIndex(const onnx::GraphProto& graph);

  std::vector<OnnxTensor> Inputs() const;  // without initializers
  std::vector<OnnxTensor> Outputs() const;
  // See OnnxSummary::candidates.  Empty without a Gemm or MatMul that has weights.
  std::vector<OnnxTensor> Candidates() const;
  // The same for the layer that makes `logits`, whatever other layers the graph has.
  std::vector<OnnxTensor> CandidatesBefore(const std::string& logits) const;
  // The output that follows from the last Gemm or MatMul, or the only one; where a Softmax makes
  // it, what goes into that.  Empty where neither is there.
  std::string Logits() const;

  // Some node makes it or it is an input.
  bool Knows(const std::string& tensor) const;
  // The names most like `tensor`, for a message.
  std::vector<std::string> Like(const std::string& tensor) const;
  OnnxTensor Describe(const std::string& tensor) const;

 private:
  const onnx::NodeProto* Maker(const std::string& tensor) const;
  // Known before any values are: an initializer, a shape, or made from such only.
  bool IsConstant(const std::string& tensor) const { return constants_.count(tensor) != 0; }
  // The inputs of `node` that are not constant.
  std::vector<std::string> Data(const onnx::NodeProto& node) const;
  static bool IsLayer(const onnx::NodeProto& node, const GraphIndex& index);
  const onnx::NodeProto* Head() const;  // the last Gemm or MatMul with weights, or null
  // The one that `logits` follows from by scaling, a cast or the like.
  const onnx::NodeProto* HeadOf(const std::string& logits) const;
  std::vector<OnnxTensor> CandidatesOf(const onnx::NodeProto* head) const;
  // The columns of the tensor that `head` reads, from its weights; 0: unknown.
  int64_t Columns(const onnx::NodeProto& head) const;

  const onnx::GraphProto& graph_;
  std::map<std::string, const onnx::NodeProto*> makers_;
  std::map<std::string, const onnx::TensorProto*> initializers_;
  std::map<std::string, OnnxTensor> described_;  // what the graph itself says
  std::set<std::string> constants_;
};

}  // namespace resmem

#endif  // RESMEM_ONNX_GRAPH_GRAPH_INDEX_H_
