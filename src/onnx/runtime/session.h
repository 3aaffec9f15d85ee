// One graph inside ONNX Runtime.
#ifndef RESMEM_ONNX_RUNTIME_SESSION_H_
#define RESMEM_ONNX_RUNTIME_SESSION_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "onnx/runtime/runtime.h"

namespace resmem {

// Each Run() computes on the thread that calls it and on no other, so an answer cannot depend on
// the number of threads; callers run several batches at once.  Any number of threads may call it.
class Session {
 public:
  // `graph`: the bytes of a self-contained ONNX file.  Errors: kUnsupported, in the runtime's
  // words.
  static Result<Session> Create(const Runtime& runtime, std::span<const std::byte> graph);

  class Tensor {
   public:
    // Of a float32 tensor that a run was asked to describe.
    const std::vector<int64_t>& shape() const { return shape_; }
    const float* data() const { return data_; }

   private:
    friend class Session;
    explicit Tensor(const Runtime& runtime) : value_(runtime) {}
    Owned<ort::Value, ort::ReleaseValue> value_;
    std::vector<int64_t> shape_;
    const float* data_ = nullptr;
  };
  struct Feed {
    const std::string& name;
    const Tensor& tensor;
  };
  // Memory of the caller, which must outlive the tensor.  `type`: ort::kFloat and the like.
  Result<Tensor> Wrap(std::span<std::byte> data, int type, std::span<const int64_t> shape) const;
  // The first `described` outputs must hold float32 numbers; the others can only be fed again.
  Result<std::vector<Tensor>> Run(std::span<const Feed> inputs,
                                  std::span<const std::string> output_names,
                                  size_t described) const;
  // `input` is only read.
  Result<std::vector<Tensor>> Run(const std::string& input_name, std::span<float> input,
                                  std::span<const int64_t> shape,
                                  std::span<const std::string> output_names) const;

 private:
  explicit Session(const Runtime& runtime) : runtime_(&runtime), session_(runtime) {}
  Status Describe(const std::string& name, Tensor* tensor) const;

  const Runtime* runtime_;
  Owned<ort::Session, ort::ReleaseSession> session_;
};

}  // namespace resmem

#endif  // RESMEM_ONNX_RUNTIME_SESSION_H_
