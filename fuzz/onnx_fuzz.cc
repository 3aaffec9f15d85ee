// libFuzzer's entry for ONNX files and the manifests beside them; nothing is run.
#include <onnx/onnx_pb.h>

#include "fuzz/target.h"
#include "onnx/graph/graph_file.h"
#include "onnx/graph/graph_index.h"
#include "onnx/graph/tensor_data.h"
#include "onnx/graph_fit.h"
#include "onnx/manifest_json.h"
#include "onnx/test_graphs.h"

namespace resmem {
namespace {

ModelManifest ImageManifest() {
  ModelManifest manifest;
  manifest.input = "image";
  manifest.channels = 3;
  manifest.height = manifest.width = 2;
  manifest.mean = {0.5f, 0.25f, 0.125f};
  manifest.deviation = {0.25f, 0.5f, 1};
  manifest.resize = 4;
  manifest.embedding = "flat";
  manifest.logits = "y";
  manifest.dim = 2;
  manifest.classes = 3;
  manifest.class_names = {"cat", "d\xC3\xB6g", "ant"};
  return manifest;
}

ModelManifest TableManifest() {
  ModelManifest manifest;
  manifest.input = "x";
  manifest.columns = 3;
  manifest.embedding = "h";
  manifest.logits = "y";
  manifest.dim = manifest.classes = 2;
  return manifest;
}

ModelManifest TokenManifest() {
  ModelManifest manifest;
  manifest.input = "ids";
  manifest.context = 8;
  manifest.embedding = "h";
  manifest.logits = "y";
  manifest.dim = manifest.classes = 4;
  return manifest;
}

// A language model of one layer.
std::string TokenGraph() {
  fixtures::GraphMaker maker;
  maker.Input("ids", {-1, -1});
  maker.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(
      onnx::TensorProto::INT64);
  maker.Weights("table", {2, 2}, {1, 0, 0, 1});
  maker.Weights("head", {2, 2}, {1, 0, 0, 1});
  maker.Node("Gather", {"table", "ids"}, "h");
  maker.Node("MatMul", {"h", "head"}, "y");
  maker.Output("y", {-1, -1, 2});
  return maker.bytes();
}

// What inspecting, preparing and opening do with a graph before the runtime sees it.
Status ReadGraph(std::string_view input) {
  const auto model = ParseGraph("it", std::as_bytes(std::span(input)));
  if (!model.ok()) return model.status();
  VisitNodes(**model, [](const onnx::NodeProto&) {});
  VisitTensors(**model, [](onnx::TensorProto& tensor) {
    const auto values = TensorValues(tensor);
    Expect(values.status());
    Require(!values.ok() || *values >= 0);
  });
  const GraphIndex index((*model)->graph());
  const std::string logits = index.Logits();
  index.Candidates();
  index.CandidatesBefore(logits);
  index.Like("logit");
  for (const OnnxTensor& tensor : index.Inputs()) Require(index.Knows(tensor.name));
  index.Outputs();
  for (const ModelManifest& manifest : {ImageManifest(), TableManifest(), TokenManifest()}) {
    Expect(CheckFit(index, manifest).status());
  }
  return {};
}

// What is read is written, and read again as the same.
Status ReadManifestText(std::string_view input) {
  const auto manifest = ModelManifestFromJson(input);
  if (!manifest.ok()) return manifest.status();
  const auto text = ModelManifestToJson(*manifest);
  Require(text.ok());
  const auto again = ModelManifestFromJson(*text);
  Require(again.ok() && *ModelManifestToJson(*again) == *text);
  return {};
}

}  // namespace

std::vector<Kind> Kinds() {
  return {{"image.onnx", fixtures::Image().bytes(), ReadGraph},
          {"table.onnx", fixtures::Table().bytes(), ReadGraph},
          {"tokens.onnx", TokenGraph(), ReadGraph},
          {"image.json", *ModelManifestToJson(ImageManifest()), ReadManifestText},
          {"table.json", *ModelManifestToJson(TableManifest()), ReadManifestText},
          {"tokens.json", *ModelManifestToJson(TokenManifest()), ReadManifestText}};
}

}  // namespace resmem
