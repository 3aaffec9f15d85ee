#include "onnx/runtime/runtime.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <string_view>

#include "resmem_program/system_error.h"
#include "support/file_system.h"
#include "support/text.h"

namespace resmem {
namespace {

Status NotRuntime(const std::string& path, const std::string& why) {
  return {ErrorCode::kUnsupported,
          Text(path, ": ", why, "; give the path of libonnxruntime.so.1, version 1.",
               ort::kApiVersion, " or later, or run: resmem runtime install")};
}

// The runtime and the system's loader tell only in words what they had none left of.
bool SpeaksOfMemory(std::string_view message) {
  constexpr std::string_view kWords[] = {"bad_alloc",      "llocate",
                                         "ut of memory",   "failed to map segment",
                                         "pthread_create", "Too many open files"};
  return std::any_of(std::begin(kWords), std::end(kWords), [&](std::string_view words) {
    return message.find(words) != std::string_view::npos;
  });
}

}  // namespace

Status RuntimeWithoutMemory(std::string_view message) {
  return {ErrorCode::kResourceExhausted, Text("not enough memory for ONNX Runtime (", message,
                                              "); free some, or run fewer rows at a time")};
}

Status Runtime::TakeError(ort::Error* error) const {
  if (error == nullptr) return {};
  std::string message = Call<ort::GetErrorMessage>(error);
  Call<ort::ReleaseStatus>(error);
  std::replace_if(
      message.begin(), message.end(),
      [](char c) { return static_cast<unsigned char>(c) < 32 || c == 127; }, ' ');
  constexpr size_t kLongest = 400;
  if (message.size() > kLongest) message = message.substr(0, kLongest) + "...";
  if (SpeaksOfMemory(message)) return RuntimeWithoutMemory(message);
  return {ErrorCode::kUnsupported, std::move(message)};
}

Status Runtime::CheckTable() {
  const auto unlike = [&](const char* what) {
    return NotRuntime(path_, Text("its table of functions is not ONNX Runtime's: ", what));
  };
  constexpr char kWords[] = "resmem asks";
  ort::Error* error = Call<ort::CreateStatus>(ort::kFail, kWords);
  if (error == nullptr) {  // none where it found no memory; then there may be none for us either
    ::operator delete(::operator new(4096));
    error = Call<ort::CreateStatus>(ort::kFail, kWords);
  }
  if (error == nullptr || Call<ort::GetErrorCode>(error) != ort::kFail ||
      std::strcmp(Call<ort::GetErrorMessage>(error), kWords) != 0) {
    return unlike("an error does not come back");
  }
  Call<ort::ReleaseStatus>(error);
  RESMEM_RETURN_IF_ERROR(
      Make<ort::CreateCpuMemoryInfo>(&cpu_, ort::kDeviceAllocator, ort::kDefaultMemory));

  std::array<float, 6> numbers = {};
  const std::array<int64_t, 2> shape = {2, 3};
  Owned<ort::Value, ort::ReleaseValue> tensor(*this);
  RESMEM_RETURN_IF_ERROR(Make<ort::CreateTensorWithDataAsOrtValue>(
      tensor.out(), cpu_, numbers.data(), sizeof numbers, shape.data(), shape.size(), ort::kFloat));
  Owned<ort::TensorInfo, ort::ReleaseTensorTypeAndShapeInfo> info(*this);
  RESMEM_RETURN_IF_ERROR(Make<ort::GetTensorTypeAndShape>(info.out(), tensor.get()));
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

Result<std::unique_ptr<Runtime>> Runtime::Open(const FoundRuntime& found) {
  const std::string& path = found.path;
  RESMEM_ASSIGN_OR_RETURN(const CheckedRuntime checked, CheckedRuntime::Open(found));
  // Local: its symbols must not meet other copies of the libraries it holds.
  void* library = ::dlopen(checked.name().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = ::dlerror();
    // The loader tells what it met in words only.
    const int probe = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    const ErrorCode code = probe < 0 ? CodeOfSystemError(errno) : ErrorCode::kIo;
    if (probe >= 0) ::close(probe);
    // Where it finds no memory for words either, it says nothing.
    const std::string why = reason == nullptr ? "out of memory" : reason;
    if (code == ErrorCode::kResourceExhausted || SpeaksOfMemory(why)) {
      return Status(ErrorCode::kResourceExhausted, Text(path, ": cannot be loaded: ", why));
    }
    return NotRuntime(path, Text("cannot be loaded (", why, ")"));
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
  const Status status = runtime->Make<ort::CreateEnv>(&runtime->env_, ort::kFatal, "resmem");
  if (status.code() == ErrorCode::kResourceExhausted) return status;
  if (!status.ok()) return NotRuntime(path, Text("does not start: ", status.message()));
  return runtime;
}

Result<const Runtime*> Runtime::Load(const std::string& library) {
  RESMEM_ASSIGN_OR_RETURN(const FoundRuntime place, FindRuntime(library));
  static std::mutex mutex;
  // Never destroyed: sessions may outlive every other static object.
  static auto& loaded = *new std::map<std::string, std::unique_ptr<Runtime>>;
  const std::lock_guard<std::mutex> lock(mutex);
  auto found = loaded.find(place.path);
  if (found == loaded.end()) {
    RESMEM_ASSIGN_OR_RETURN(auto runtime, Open(place));
    found = loaded.emplace(place.path, std::move(runtime)).first;
  }
  return static_cast<const Runtime*>(found->second.get());
}

}  // namespace resmem
