// An ONNX file as the classes of its protobuf, read as something hostile.
#ifndef RESMEM_ONNX_GRAPH_GRAPH_FILE_H_
#define RESMEM_ONNX_GRAPH_GRAPH_FILE_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "resmem/status.h"

namespace onnx {
class GraphProto;
class ModelProto;
class NodeProto;
class TensorProto;
}  // namespace onnx

namespace resmem {

// Deleted where the class is known.
struct ModelDeleter {
  void operator()(onnx::ModelProto* model) const;
};
using GraphModel = std::unique_ptr<onnx::ModelProto, ModelDeleter>;

// Parses the bytes of a file and checks every tensor in it: its size against its shape and its
// data, and that external data lies in the folder of `path` and reaches as far as it should.
// Messages begin with `path`.  Errors: kBadData, kUnsupported (above 2 GB), kResourceExhausted.
Result<GraphModel> ParseGraph(const std::string& path, std::span<const std::byte> bytes);

// Calls `visit` for every graph: the model's own, those inside its nodes, the functions' nodes.
void VisitNodes(const onnx::ModelProto& model,
                const std::function<void(const onnx::NodeProto&)>& visit);
void VisitTensors(onnx::ModelProto& model, const std::function<void(onnx::TensorProto&)>& visit);

}  // namespace resmem

#endif  // RESMEM_ONNX_GRAPH_GRAPH_FILE_H_
