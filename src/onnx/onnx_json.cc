#include "report/document.h"
#include "resmem/models/model_report.h"

namespace resmem {
namespace {

Json TensorsJson(const std::vector<OnnxTensor>& tensors) {
  Json list = Json::array();
  for (const OnnxTensor& tensor : tensors) {
    list.push_back({{"name", tensor.name},
                    {"type", tensor.type},
                    {"shape", tensor.shape},
                    {"made_by", tensor.made_by}});
  }
  return list;
}

Json PreparedJson(const ModelManifest& manifest, const Fingerprint& fingerprint) {
  return {{"network", manifest.network},
          {"input", manifest.input},
          {"channels", manifest.channels},
          {"height", manifest.height},
          {"width", manifest.width},
          {"columns", manifest.columns},
          {"context", manifest.context},
          {"tokenizer", manifest.tokenizer},
          {"mean", Numbers(manifest.mean)},
          {"std", Numbers(manifest.deviation)},
          {"resize", manifest.resize},
          {"embedding", manifest.embedding},
          {"logits", manifest.logits},
          {"dim", manifest.dim},
          {"classes", manifest.classes},
          {"class_names", manifest.class_names},
          {"model_digest", fingerprint.digest},
          {"model_layer", fingerprint.layer}};
}

}  // namespace

std::string OnnxJson(const std::string& path, const OnnxSummary& summary,
                     const std::optional<ModelManifest>& prepared, const Fingerprint& fingerprint,
                     const RunInfo& run) {
  Json document = StartDocument("onnx", run);
  document["path"] = path;
  document["producer"] = summary.producer;
  document["ir_version"] = summary.ir_version;
  document["opset"] = summary.opset;
  document["parameters"] = summary.parameters;
  document["inputs"] = TensorsJson(summary.inputs);
  document["outputs"] = TensorsJson(summary.outputs);
  document["candidates"] = TensorsJson(summary.candidates);
  document["logits"] = summary.logits;
  document["operators"] = Json::object();
  for (const auto& [name, count] : summary.operators) document["operators"][name] = count;
  if (prepared) document["prepared"] = PreparedJson(*prepared, fingerprint);
  return WriteDocument(document);
}

}  // namespace resmem
