#include "onnx/graph_fit.h"

#include <algorithm>
#include <charconv>

#include "onnx/runtime/batch_runner.h"
#include "support/text.h"

namespace resmem {
namespace {

Status Mismatch(const std::string& message) {
  return {
      ErrorCode::kMismatch,
      message + "; the manifest belongs to another graph, make both with: resmem model prepare"};
}

const OnnxTensor* Find(const std::vector<OnnxTensor>& tensors, const std::string& name) {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [&](const OnnxTensor& tensor) { return tensor.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

Status CheckOutputs(const GraphIndex& index, const ModelManifest& manifest) {
  const std::vector<OnnxTensor> outputs = index.Outputs();
  for (const std::string& name : {manifest.embedding, manifest.logits}) {
    if (Find(outputs, name) == nullptr) return Mismatch(Text("the graph has no output ", name));
  }
  return {};
}

}  // namespace

Result<std::vector<int64_t>> InputSides(const OnnxTensor& input, const char* type) {
  if (input.type != type) {
    return Status(ErrorCode::kUnsupported, Text("input ", input.name, " takes ",
                                                input.type.empty() ? "no tensor" : input.type,
                                                "; export the model with a ", type, " input"));
  }
  if (input.shape.empty()) {
    return Status(ErrorCode::kUnsupported, Text("the graph does not say which shape its input ",
                                                input.name, " has; export it with a shape"));
  }
  std::vector<int64_t> sides;
  for (const std::string& text : input.shape) {
    int64_t side = -1;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), side).ptr;
    sides.push_back(end == text.data() + text.size() && side > 0 ? side : -1);
  }
  return sides;
}

Result<GraphFit> CheckFit(const GraphIndex& index, const ModelManifest& manifest) {
  GraphFit fit;
  const std::vector<OnnxTensor> inputs = index.Inputs();
  const OnnxTensor* input = Find(inputs, manifest.input);
  if (manifest.takes_tokens() && input != nullptr) {
    RESMEM_ASSIGN_OR_RETURN(fit.tokens, FindTokenInputs(index));
    if (fit.tokens.ids() != manifest.input) {
      return Mismatch(
          Text("the graph takes token ids as ", fit.tokens.ids(), ", not as ", manifest.input));
    }
    RESMEM_RETURN_IF_ERROR(CheckOutputs(index, manifest));
    return fit;
  }
  if (input == nullptr) return Mismatch(Text("the graph has no input ", manifest.input));
  if (inputs.size() > 1) {
    return Status(ErrorCode::kUnsupported,
                  Text("the graph has ", inputs.size(), " inputs; only one is fed"));
  }
  RESMEM_ASSIGN_OR_RETURN(const std::vector<int64_t> sides, InputSides(*input, "float32"));
  const std::vector<int64_t> needed = InputShape(manifest, 1);
  bool fits = sides.size() == needed.size();
  for (size_t i = 1; fits && i < sides.size(); ++i) {
    fits = sides[i] == -1 || sides[i] == needed[i];
  }
  if (!fits) {
    return Mismatch(
        Text("the graph's input ", manifest.input, " has not the shape of the manifest's"));
  }
  RESMEM_RETURN_IF_ERROR(CheckOutputs(index, manifest));
  constexpr int64_t kMostRows = 4096;
  if (sides[0] > kMostRows) {
    return Status(ErrorCode::kUnsupported,
                  Text("the graph takes only ", sides[0], " rows at once; ",
                       "export it with an open batch dimension"));
  }
  fit.rows = std::max<int64_t>(sides[0], 0);
  return fit;
}

}  // namespace resmem
