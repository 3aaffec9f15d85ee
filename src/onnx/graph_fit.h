// A graph and a manifest that describes it.
#ifndef RESMEM_ONNX_GRAPH_FIT_H_
#define RESMEM_ONNX_GRAPH_FIT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "onnx/graph/graph_index.h"
#include "onnx/runtime/token_inputs.h"
#include "resmem/models/onnx_model.h"

namespace resmem {

// The sides of an input as the graph gives them, -1 where it leaves one open.  kUnsupported where
// the tensor is not of `type` or its shape is unknown.
Result<std::vector<int64_t>> InputSides(const OnnxTensor& input, const char* type);

struct GraphFit {
  int64_t rows = 0;    // that the graph takes at once; 0: any number
  TokenInputs tokens;  // of a language model
};
// kMismatch where the manifest speaks of another graph.
Result<GraphFit> CheckFit(const GraphIndex& index, const ModelManifest& manifest);

}  // namespace resmem

#endif  // RESMEM_ONNX_GRAPH_FIT_H_
