#include "onnx/runtime/runtime.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <mutex>

#include "onnx/runtime/runtime_places.h"
#include "support/file_system.h"
#include "support/text.h"

namespace resmem {
namespace {

Status NotRuntime(const std::string& path, const std::string& why) {
  return {ErrorCode::kUnsupported,
          Text(path, ": ", why, "; give the path of libonnxruntime.so.1, version 1.",
               ort::kApiVersion, " or later, or run ./setup in the source of resmem")};
}

}  // namespace

Status Runtime::TakeError(ort::Error* error) const {
  if (error == nullptr) return {};
  std::string message = Call<ort::GetErrorMessage>(error);
  Call<ort::ReleaseStatus>(error);
  std::replace_if(
      message.begin(), message.end(),
      [](char c) { return static_cast<unsigned char>(c) < 32 || c == 127; }, ' ');
  constexpr size_t kLongest = 400;
  if (message.size() > kLongest) message = message.substr(0, kLongest) + "...";
  return {ErrorCode::kUnsupported, std::move(message)};
}

Status Runtime::CheckTable() {
  const auto unlike = [&](const char* what) {
    return NotRuntime(path_, Text("its table of functions is not ONNX Runtime's: ", what));
  };
  constexpr char kWords[] = "resmem asks";
  ort::Error* error = Call<ort::CreateStatus>(ort::kFail, kWords);
  if (error == nullptr || Call<ort::GetErrorCode>(error) != ort::kFail ||
      std::strcmp(Call<ort::GetErrorMessage>(error), kWords) != 0) {
    return unlike("an error does not come back");
  }
  Call<ort::ReleaseStatus>(error);
  RESMEM_RETURN_IF_ERROR(
      Try<ort::CreateCpuMemoryInfo>(ort::kDeviceAllocator, ort::kDefaultMemory, &cpu_));

  std::array<float, 6> numbers = {};
  const std::array<int64_t, 2> shape = {2, 3};
  Owned<ort::Value, ort::ReleaseValue> tensor(*this);
  RESMEM_RETURN_IF_ERROR(Try<ort::CreateTensorWithDataAsOrtValue>(
      cpu_, numbers.data(), sizeof numbers, shape.data(), shape.size(), ort::kFloat, tensor.out()));
  Owned<ort::TensorInfo, ort::ReleaseTensorTypeAndShapeInfo> info(*this);
  RESMEM_RETURN_IF_ERROR(Try<ort::GetTensorTypeAndShape>(tensor.get(), info.out()));
  size_t dimensions = 0;
  RESMEM_RETURN_IF_ERROR(Try<ort::GetDimensionsCount>(info.get(), &dimensions));
  if (dimensions != shape.size()) return unlike("a tensor loses its shape");
  std::array<int64_t, 2> answer = {};
  RESMEM_RETURN_IF_ERROR(Try<ort::GetDimensions>(info.get(), answer.data(), answer.size()));
  void* data = nullptr;
  RESMEM_RETURN_IF_ERROR(Try<ort::GetTensorMutableData>(tensor.get(), &data));
  if (answer != shape || data != numbers.data()) return unlike("a tensor does not come back");
  return {};
}

Result<std::unique_ptr<Runtime>> Runtime::Open(const std::string& path) {
  // Local: its symbols must not meet other copies of the libraries it holds.
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = ::dlerror();
    return NotRuntime(path, Text("cannot be loaded (", reason == nullptr ? "?" : reason, ")"));
  }
  const auto entry = reinterpret_cast<ort::GetApiBase>(
      reinterpret_cast<uintptr_t>(::dlsym(library, ort::kEntryPoint)));
  const ort::ApiBase* base = entry == nullptr ? nullptr : entry();
  if (base == nullptr) {
    ::dlclose(library);
    return NotRuntime(path, Text("is a library without ", ort::kEntryPoint, ", not ONNX Runtime"));
  }
  std::unique_ptr<Runtime> runtime(new Runtime);
  runtime->path_ = path;
  runtime->version_ = base->GetVersionString();
  runtime->table_ = base->GetApi(ort::kApiVersion);
  if (runtime->table_ == nullptr) {
    return NotRuntime(path, Text("is ONNX Runtime ", runtime->version_, ", which is too old"));
  }
  RESMEM_RETURN_IF_ERROR(runtime->CheckTable());
  const Status status = runtime->Try<ort::CreateEnv>(ort::kFatal, "resmem", &runtime->env_);
  if (!status.ok()) return NotRuntime(path, Text("does not start: ", status.message()));
  return runtime;
}

Result<const Runtime*> Runtime::Load(const std::string& library) {
  RESMEM_ASSIGN_OR_RETURN(const std::string path, FindRuntime(library));
  static std::mutex mutex;
  // Never destroyed: sessions may outlive every other static object.
  static auto& loaded = *new std::map<std::string, std::unique_ptr<Runtime>>;
  const std::lock_guard<std::mutex> lock(mutex);
  auto found = loaded.find(path);
  if (found == loaded.end()) {
    RESMEM_ASSIGN_OR_RETURN(auto runtime, Open(path));
    found = loaded.emplace(path, std::move(runtime)).first;
  }
  return static_cast<const Runtime*>(found->second.get());
}

}  // namespace resmem
