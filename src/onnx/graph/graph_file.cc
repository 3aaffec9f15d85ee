#include "onnx/graph/graph_file.h"

#include <onnx/onnx_pb.h>

#include <limits>

#include "onnx/graph/graph_parts.h"
#include "onnx/graph/tensor_data.h"
#include "support/file_system.h"
#include "support/text.h"

namespace resmem {
namespace {

using NodeVisit = std::function<void(const onnx::NodeProto&)>;
using TensorVisit = std::function<void(onnx::TensorProto&)>;

// Graphs nest at most as deep as the parser lets them: 100 messages, 33 graphs.
void VisitGraph(const onnx::GraphProto& graph, const NodeVisit& visit);

void VisitNode(const onnx::NodeProto& node, const NodeVisit& visit) {
  visit(node);
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.has_g()) VisitGraph(attribute.g(), visit);
    for (const onnx::GraphProto& graph : attribute.graphs()) VisitGraph(graph, visit);
  }
}

void VisitGraph(const onnx::GraphProto& graph, const NodeVisit& visit) {
  for (const onnx::NodeProto& node : graph.node()) VisitNode(node, visit);
}

void VisitTensorsOf(onnx::GraphProto* graph, const TensorVisit& visit);

void VisitTensorsOf(onnx::SparseTensorProto* sparse, const TensorVisit& visit) {
  visit(*sparse->mutable_values());
  visit(*sparse->mutable_indices());
}

void VisitTensorsOf(onnx::NodeProto* node, const TensorVisit& visit) {
  for (onnx::AttributeProto& attribute : *node->mutable_attribute()) {
    if (attribute.has_t()) visit(*attribute.mutable_t());
    for (onnx::TensorProto& tensor : *attribute.mutable_tensors()) visit(tensor);
    if (attribute.has_sparse_tensor()) VisitTensorsOf(attribute.mutable_sparse_tensor(), visit);
    for (auto& sparse : *attribute.mutable_sparse_tensors()) VisitTensorsOf(&sparse, visit);
    if (attribute.has_g()) VisitTensorsOf(attribute.mutable_g(), visit);
    for (onnx::GraphProto& graph : *attribute.mutable_graphs()) VisitTensorsOf(&graph, visit);
  }
}

void VisitTensorsOf(onnx::GraphProto* graph, const TensorVisit& visit) {
  for (onnx::TensorProto& tensor : *graph->mutable_initializer()) visit(tensor);
  for (auto& sparse : *graph->mutable_sparse_initializer()) VisitTensorsOf(&sparse, visit);
  for (onnx::NodeProto& node : *graph->mutable_node()) VisitTensorsOf(&node, visit);
}

}  // namespace

void ModelDeleter::operator()(onnx::ModelProto* model) const {
  delete model;
}

void VisitNodes(const onnx::ModelProto& model, const NodeVisit& visit) {
  VisitGraph(model.graph(), visit);
  for (const onnx::FunctionProto& function : model.functions()) {
    for (const onnx::NodeProto& node : function.node()) VisitNode(node, visit);
  }
}

void VisitTensors(onnx::ModelProto& model, const TensorVisit& visit) {
  VisitTensorsOf(model.mutable_graph(), visit);
  for (onnx::FunctionProto& function : *model.mutable_functions()) {
    for (onnx::NodeProto& node : *function.mutable_node()) VisitTensorsOf(&node, visit);
  }
}

Result<GraphModel> ParseGraph(const std::string& path, std::span<const std::byte> bytes) {
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
    return Status(ErrorCode::kUnsupported,
                  Text(path, ": has ", bytes.size(), " bytes; an ONNX file has at most 2 GB"));
  }
  if (!HasReasonableParts(bytes)) {
    return Status(ErrorCode::kBadData,
                  Text(path,
                       ": consists of millions of parts, more than any network; export it "
                       "again"));
  }
  GraphModel model(new onnx::ModelProto);
  if (!model->ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) || !model->has_graph() ||
      model->graph().node_size() == 0) {
    return Status(ErrorCode::kBadData,
                  Text(path,
                       ": is not an ONNX model, was cut short, or nests too deeply; export it "
                       "again"));
  }
  if (model->training_info_size() > 0) {
    return Status(ErrorCode::kUnsupported,
                  Text(path, ": carries training information; export it for inference"));
  }
  Status status;
  const std::string folder = ParentDirectory(path);
  VisitTensors(*model, [&](const onnx::TensorProto& tensor) {
    if (status.ok()) status = CheckTensor(tensor, folder);
  });
  if (!status.ok()) return Status(status.code(), Text(path, ": ", status.message()));
  return model;
}

}  // namespace resmem
