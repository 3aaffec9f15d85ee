#include "transformer/onnx_import.h"

#include <cmath>
#include <cstring>
#include <utility>

#include "support/file_system.h"
#include "support/text.h"
#include "transformer/onnx_graph.h"

namespace resmem {
namespace {

// With parameters up to this size values reach about 1e25, which softmax still tells from what it
// hides (1e30).
constexpr float kLargest = 1e4f;

Status Foreign(const std::string& path, const std::string& reason) {
  return {ErrorCode::kUnsupported,
          Text(path, ": ", reason, ", so only ONNX Runtime can run it (--engine onnxruntime)")};
}

Result<LanguageModelShape> ShapeOf(const std::string& path, const ModelManifest& manifest) {
  const auto shape = ParseLanguageModel(manifest.network, manifest.classes);
  const bool fits = shape.ok() && manifest.takes_tokens() && manifest.input == kTokensInput &&
                    manifest.embedding == kTokensEmbedding && manifest.logits == kTokensLogits &&
                    manifest.dim == shape->dim;
  if (!fits) return Foreign(path, "its manifest is not that of a model of resmem lm train");
  return *shape;
}

// The file's protobuf; every part has been looked at by InspectOnnx().
Result<onnx::ModelProto> Parse(const std::string& path) {
  RESMEM_ASSIGN_OR_RETURN(const OnnxSummary summary, InspectOnnx(path));
  if (!summary.producer.starts_with("resmem")) {
    return Foreign(path, "it was not exported by resmem lm train");
  }
  RESMEM_ASSIGN_OR_RETURN(const MappedFile file, FileSystem::Posix().Map(path));
  onnx::ModelProto model;
  if (!model.ParseFromArray(file.bytes().data(), static_cast<int>(file.bytes().size()))) {
    return Status(ErrorCode::kBadData, Text(path, ": is not an ONNX model; export it again"));
  }
  return model;
}

// Takes the data of the float32 tensors out of the model.
std::vector<std::string> TakeNumbers(onnx::ModelProto* model) {
  std::vector<std::string> numbers;
  for (onnx::TensorProto& tensor : *model->mutable_graph()->mutable_initializer()) {
    if (tensor.data_type() != onnx::TensorProto::FLOAT) continue;
    numbers.push_back(std::move(*tensor.mutable_raw_data()));
    tensor.clear_raw_data();
  }
  return numbers;
}

}  // namespace

Result<TrainedModel> ImportLanguageModel(const std::string& path, const ModelManifest& manifest) {
  RESMEM_ASSIGN_OR_RETURN(const LanguageModelShape shape, ShapeOf(path, manifest));
  RESMEM_ASSIGN_OR_RETURN(onnx::ModelProto model, Parse(path));
  const std::vector<std::string> numbers = TakeNumbers(&model);
  const ParameterLayout layout(shape, 1);
  LanguageModelGraph expected(shape, layout, manifest.context);
  expected.model.set_producer_version(model.producer_version());
  bool same = model.SerializeAsString() == expected.model.SerializeAsString();
  for (size_t i = 0; same && i < numbers.size(); ++i) {
    same = numbers[i].size() == static_cast<size_t>(expected.tensors[i].size()) * sizeof(float);
  }
  if (!same) return Foreign(path, "its graph is not the one that resmem lm train exports");
  // The numbers are all there: no more memory is taken than the file has bytes.
  TrainedModel trained{shape, std::vector<float>(static_cast<size_t>(layout.size))};
  std::vector<float> tensor;
  for (size_t i = 0; i < numbers.size(); ++i) {
    tensor.resize(numbers[i].size() / sizeof(float));
    std::memcpy(tensor.data(), numbers[i].data(), numbers[i].size());
    if (!expected.tensors[i].Load(tensor, trained.values)) {
      return Foreign(path, "its position biases or norms are not those of T5");
    }
  }
  for (const float value : trained.values) {
    if (!(std::abs(value) <= kLargest)) {
      return Foreign(path, Text("it holds the parameter ", value, ", above ", kLargest));
    }
  }
  return trained;
}

}  // namespace resmem
