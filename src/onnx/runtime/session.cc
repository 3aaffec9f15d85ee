#include "onnx/runtime/session.h"

#include <algorithm>
#include <utility>

#include "support/text.h"

namespace resmem {

Result<Session> Session::Create(const Runtime& runtime, std::span<const std::byte> graph) {
  Owned<ort::SessionOptions, ort::ReleaseSessionOptions> options(runtime);
  RESMEM_RETURN_IF_ERROR(runtime.Make<ort::CreateSessionOptions>(options.out()));
  RESMEM_RETURN_IF_ERROR(runtime.Try<ort::SetIntraOpNumThreads>(options.get(), 1));
  RESMEM_RETURN_IF_ERROR(runtime.Try<ort::SetInterOpNumThreads>(options.get(), 1));
  RESMEM_RETURN_IF_ERROR(runtime.Try<ort::SetDeterministicCompute>(options.get(), true));
  Session session(runtime);
  const Status status = runtime.Make<ort::CreateSessionFromArray>(
      session.session_.out(), runtime.env(), graph.data(), graph.size(), options.get());
  if (status.code() == ErrorCode::kResourceExhausted) return status;
  if (!status.ok()) {
    return Status(
        ErrorCode::kUnsupported,
        Text("ONNX Runtime ", runtime.version(), " does not take this graph: ", status.message(),
             "; export it with standard operators, or name a newer runtime with "
             "--onnxruntime"));
  }
  return session;
}

Status Session::Describe(const std::string& name, Tensor* tensor) const {
  int is_tensor = 0;
  RESMEM_RETURN_IF_ERROR(runtime_->Try<ort::IsTensor>(tensor->value_.get(), &is_tensor));
  if (is_tensor == 0) return {ErrorCode::kUnsupported, Text(name, " is not a tensor")};
  Owned<ort::TensorInfo, ort::ReleaseTensorTypeAndShapeInfo> info(*runtime_);
  RESMEM_RETURN_IF_ERROR(
      runtime_->Make<ort::GetTensorTypeAndShape>(info.out(), tensor->value_.get()));
  int type = 0;
  RESMEM_RETURN_IF_ERROR(runtime_->Try<ort::GetTensorElementType>(info.get(), &type));
  if (type != ort::kFloat) {
    return {ErrorCode::kUnsupported, Text(name,
                                          " does not hold float32 numbers; export the model "
                                          "in float32, or cast this tensor inside the graph")};
  }
  size_t dimensions = 0;
  RESMEM_RETURN_IF_ERROR(runtime_->Try<ort::GetDimensionsCount>(info.get(), &dimensions));
  tensor->shape_.resize(dimensions);
  RESMEM_RETURN_IF_ERROR(
      runtime_->Try<ort::GetDimensions>(info.get(), tensor->shape_.data(), dimensions));
  void* data = nullptr;
  RESMEM_RETURN_IF_ERROR(runtime_->Try<ort::GetTensorMutableData>(tensor->value_.get(), &data));
  tensor->data_ = static_cast<const float*>(data);
  return {};
}

Result<std::vector<Session::Tensor>> Session::Run(const std::string& input_name,
                                                  std::span<float> input,
                                                  std::span<const int64_t> shape,
                                                  std::span<const std::string> output_names) const {
  RESMEM_ASSIGN_OR_RETURN(const Tensor tensor,
                          Wrap(std::as_writable_bytes(input), ort::kFloat, shape));
  const Feed feeds[] = {{input_name, tensor}};
  return Run(feeds, output_names, output_names.size());
}

Result<Session::Tensor> Session::Wrap(std::span<std::byte> data, int type,
                                      std::span<const int64_t> shape) const {
  Tensor tensor(*runtime_);
  RESMEM_RETURN_IF_ERROR(runtime_->Make<ort::CreateTensorWithDataAsOrtValue>(
      tensor.value_.out(), runtime_->cpu(), data.data(), data.size(), shape.data(), shape.size(),
      type));
  return tensor;
}

Result<std::vector<Session::Tensor>> Session::Run(std::span<const Feed> inputs,
                                                  std::span<const std::string> output_names,
                                                  size_t described) const {
  std::vector<const char*> input_names, names;
  std::vector<const ort::Value*> values;
  for (const Feed& feed : inputs) {
    input_names.push_back(feed.name.c_str());
    values.push_back(feed.tensor.value_.get());
  }
  std::vector<Tensor> tensors;
  for (const std::string& name : output_names) {
    names.push_back(name.c_str());
    tensors.push_back(Tensor(*runtime_));
  }
  std::vector<ort::Value*> outputs(names.size(), nullptr);
  const Status status =
      runtime_->Try<ort::Run>(session_.get(), nullptr, input_names.data(), values.data(),
                              values.size(), names.data(), names.size(), outputs.data());
  for (size_t i = 0; i < outputs.size(); ++i) *tensors[i].value_.out() = outputs[i];
  if (status.code() == ErrorCode::kResourceExhausted) return status;
  if (status.ok() && std::find(outputs.begin(), outputs.end(), nullptr) != outputs.end()) {
    return RuntimeWithoutMemory("it gave no result");
  }
  if (!status.ok()) {
    return Status(ErrorCode::kUnsupported,
                  Text("ONNX Runtime ", runtime_->version(), " fails: ", status.message()));
  }
  for (size_t i = 0; i < described; ++i) {
    RESMEM_RETURN_IF_ERROR(Describe(output_names[i], &tensors[i]));
  }
  return tensors;
}

}  // namespace resmem
