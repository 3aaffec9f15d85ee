#include "lm_training/onnx_export.h"

#include "support/file_system.h"
#include "support/text.h"
#include "transformer/onnx_graph.h"

namespace resmem {

Status ExportLanguageModel(const std::string& path, const LanguageModelShape& shape,
                           const ParameterLayout& layout, std::span<const float> values,
                           int64_t context) {
  LanguageModelGraph graph(shape, layout, context);
  auto next = graph.tensors.begin();
  std::vector<float> numbers;
  for (onnx::TensorProto& tensor : *graph.model.mutable_graph()->mutable_initializer()) {
    if (tensor.data_type() != onnx::TensorProto::FLOAT) continue;
    numbers.resize(static_cast<size_t>(next->size()));
    next++->Store(values, numbers.data());
    tensor.set_raw_data(numbers.data(), numbers.size() * sizeof(float));
  }
  std::string bytes;
  if (!graph.model.SerializeToString(&bytes)) {
    return Status(ErrorCode::kResourceExhausted, Text(path, ": the model exceeds 2 GB"));
  }
  return WriteFileAtomically(FileSystem::Posix(), path, std::as_bytes(std::span(bytes)));
}

}  // namespace resmem
