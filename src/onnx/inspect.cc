#include <onnx/onnx_pb.h>

#include "onnx/graph/graph_file.h"
#include "onnx/graph/graph_index.h"
#include "onnx/graph/tensor_data.h"
#include "onnx/runtime/token_inputs.h"
#include "resmem/models/onnx_model.h"
#include "support/file_system.h"
#include "support/guard.h"

namespace resmem {

Result<OnnxSummary> InspectOnnx(const std::string& onnx_path) try {
  RESMEM_ASSIGN_OR_RETURN(const MappedFile file, FileSystem::Posix().Map(onnx_path));
  RESMEM_ASSIGN_OR_RETURN(const GraphModel model, ParseGraph(onnx_path, file.bytes()));
  OnnxSummary summary;
  summary.producer = model->producer_name();
  if (!model->producer_version().empty()) summary.producer += " " + model->producer_version();
  summary.ir_version = model->ir_version();
  for (const onnx::OperatorSetIdProto& set : model->opset_import()) {
    if (set.domain().empty() || set.domain() == "ai.onnx") summary.opset = set.version();
  }
  for (const onnx::TensorProto& tensor : model->graph().initializer()) {
    RESMEM_ASSIGN_OR_RETURN(const int64_t values, TensorValues(tensor));
    summary.parameters += values;
  }
  const GraphIndex index(model->graph());
  summary.inputs = index.Inputs();
  summary.outputs = index.Outputs();
  summary.takes_tokens = TakesTokenIds(index);
  summary.candidates =
      summary.takes_tokens ? index.CandidatesBefore(index.Logits()) : index.Candidates();
  summary.logits = index.Logits();
  VisitNodes(*model, [&](const onnx::NodeProto& node) {
    const bool standard = node.domain().empty() || node.domain() == "ai.onnx";
    ++summary.operators[standard ? node.op_type() : node.domain() + ":" + node.op_type()];
  });
  return summary;
} catch (...) {
  return CaughtException("inspect an ONNX file");
}

}  // namespace resmem
