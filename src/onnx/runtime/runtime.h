// ONNX Runtime, found and loaded when it is first needed.
#ifndef RESMEM_ONNX_RUNTIME_RUNTIME_H_
#define RESMEM_ONNX_RUNTIME_RUNTIME_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "onnx/runtime/onnxruntime_api.h"
#include "onnx/runtime/runtime_places.h"
#include "resmem/status.h"

namespace resmem {

// kResourceExhausted, with what the runtime said.
Status RuntimeWithoutMemory(std::string_view message);

// One loaded library.  Stays loaded until the process ends; usable from any number of threads.
class Runtime {
 public:
  // `library` is the user's; where it is empty RESMEM_ONNXRUNTIME and then the usual places are
  // tried.  A library is loaded once.  Errors: kNotFound, with how to get it; kUnsupported for a
  // file that is no ONNX Runtime or too old a one; those of CheckedRuntime::Open().
  static Result<const Runtime*> Load(const std::string& library);

  const std::string& path() const { return path_; }
  const std::string& version() const { return version_; }
  const ort::Env* env() const { return env_; }
  const ort::MemoryInfo* cpu() const { return cpu_; }

  template <typename Function, typename... Arguments>
  auto Call(Arguments... arguments) const {
    // The table holds pointers to functions of many types.
    const auto function = reinterpret_cast<typename Function::Function>(
        reinterpret_cast<uintptr_t>(table_[Function::kNumber]));
    return function(arguments...);
  }
  // The same for what returns an error of the runtime; its message is in the Status, on one line.
  template <typename Function, typename... Arguments>
  Status Try(Arguments... arguments) const {
    return TakeError(Call<Function>(arguments...));
  }
  // The same for what makes an object, its last argument.  Where the runtime finds no memory for an
  // error it returns none, and makes nothing.
  template <typename Function, typename Object, typename... Arguments>
  Status Make(Object** object, Arguments... arguments) const {
    Status status = Try<Function>(arguments..., object);
    if (status.ok() && *object == nullptr) return RuntimeWithoutMemory("it made nothing");
    return status;
  }

 private:
  Runtime() = default;
  static Result<std::unique_ptr<Runtime>> Open(const FoundRuntime& found);
  Status TakeError(ort::Error* error) const;
  // Sends values through the table and back, so that a table unlike ours is found out here.
  Status CheckTable();

  std::string path_, version_;
  const void* const* table_ = nullptr;
  ort::Env* env_ = nullptr;
  ort::MemoryInfo* cpu_ = nullptr;
};

// Releases an object of the runtime with `Release`.
template <typename Object, typename Release>
class Owned {
 public:
  explicit Owned(const Runtime& runtime) : runtime_(&runtime) {}
  Owned(Owned&& other) noexcept
      : runtime_(other.runtime_), object_(std::exchange(other.object_, nullptr)) {}
  Owned& operator=(Owned&&) = delete;
  ~Owned() {
    if (object_ != nullptr) runtime_->Call<Release>(object_);
  }
  Object* get() const { return object_; }
  Object** out() { return &object_; }

 private:
  const Runtime* runtime_;
  Object* object_ = nullptr;
};

}  // namespace resmem

#endif  // RESMEM_ONNX_RUNTIME_RUNTIME_H_
