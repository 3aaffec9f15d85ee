#include "onnx/runtime/session.h"

#include <utility>

#include "support/text.h"

namespace resmem {

Result<Session> Session::Create(const Runtime& runtime, std::span<const std::byte> graph) {
  Owned<ort::SessionOptions, ort::ReleaseSessionOptions> options(runtime);
  RESMEM_RETURN_IF_ERROR(runtime.Try<ort::CreateSessionOptions>(options.out()));
  RESMEM_RETURN_IF_ERROR(runtime.Try<ort::SetIntraOpNumThreads>(options.get(), 1));
  RESMEM_RETURN_IF_ERROR(runtime.Try<ort::SetInterOpNumThreads>(options.get(), 1));
  RESMEM_RETURN_IF_ERROR(runtime.Try<ort::SetDeterministicCompute>(options.get(), true));
  Session session(runtime);
  const Status status = runtime.Try<ort::CreateSessionFromArray>(
      runtime.env(), graph.data(), graph.size(), options.get(), session.session_.out());
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
      runtime_->Try<ort::GetTensorTypeAndShape>(tensor->value_.get(), info.out()));
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
  return RunBytes(input_name, std::as_writable_bytes(input), ort::kFloat, shape, output_names);
}

Result<std::vector<Session::Tensor>> Session::Run(const std::string& input_name,
                                                  std::span<int64_t> input,
                                                  std::span<const int64_t> shape,
                                                  std::span<const std::string> output_names) const {
  return RunBytes(input_name, std::as_writable_bytes(input), ort::kInt64, shape, output_names);
}

Result<std::vector<Session::Tensor>> Session::RunBytes(
    const std::string& input_name, std::span<std::byte> input, int type,
    std::span<const int64_t> shape, std::span<const std::string> output_names) const {
  Owned<ort::Value, ort::ReleaseValue> value(*runtime_);
  RESMEM_RETURN_IF_ERROR(runtime_->Try<ort::CreateTensorWithDataAsOrtValue>(
      runtime_->cpu(), input.data(), input.size(), shape.data(), shape.size(), type, value.out()));
  const char* input_names[] = {input_name.c_str()};
  const ort::Value* inputs[] = {value.get()};
  std::vector<const char*> names;
  std::vector<Tensor> tensors;
  for (const std::string& name : output_names) {
    names.push_back(name.c_str());
    tensors.push_back(Tensor(*runtime_));
  }
  std::vector<ort::Value*> outputs(names.size(), nullptr);
  const Status status = runtime_->Try<ort::Run>(session_.get(), nullptr, input_names, inputs, 1,
                                                names.data(), names.size(), outputs.data());
  for (size_t i = 0; i < outputs.size(); ++i) *tensors[i].value_.out() = outputs[i];
  if (!status.ok()) {
    return Status(ErrorCode::kUnsupported,
                  Text("ONNX Runtime ", runtime_->version(), " fails: ", status.message()));
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    RESMEM_RETURN_IF_ERROR(Describe(output_names[i], &tensors[i]));
  }
  return tensors;
}

}  // namespace resmem
