// A language model, run by one of two engines.
//
//   native       our own forward pass of the models that `resmem lm train` exports: products of
//                bfloat16 numbers, with AMX tiles if the processor has them.  Needs no
//                ONNX Runtime and computes only the positions that are asked for.
//   onnxruntime  the graph of any token model, in float32 as it was exported.
//
// How much their answers differ: docs/token_memory.md.
#ifndef RESMEM_LM_TOKEN_MODEL_H_
#define RESMEM_LM_TOKEN_MODEL_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "resmem/models/onnx_model.h"
#include "resmem/status.h"

namespace resmem {

enum class TokenEngine {
  kAuto,  // native if possible, ONNX Runtime otherwise
  kNative,
  kOnnxRuntime,
};
const char* TokenEngineName(TokenEngine engine);  // "auto", "native", "onnxruntime"
// kAuto for a name that is none of them.
TokenEngine ParseTokenEngine(std::string_view name);

// A window of 1 to manifest().context ids, of whose positions the last `wanted` are answered.
struct TokenInput {
  std::span<const int32_t> ids;
  int64_t wanted = 0;
};

// An answer depends on its own window alone and never on the number of threads.  Immutable: const
// methods need no lock on any number of threads.
class TokenModel {
 public:
  // Errors: those of OnnxModel::Open(), and kUnsupported where the native engine was asked for and
  // the file is not a model of `resmem lm train`.
  static Result<TokenModel> Open(const std::string& onnx_path, TokenEngine engine,
                                 const OnnxOptions& options);
  TokenModel(TokenModel&&) noexcept;
  TokenModel& operator=(TokenModel&&) noexcept;
  ~TokenModel();

  const ModelManifest& manifest() const;
  const Fingerprint& fingerprint() const;
  TokenEngine engine() const;  // which it is; never kAuto

  // The positions wanted, window after window: keys, each dim values, and logits, each classes.
  // Errors: kInvalidArgument (sizes, or an id that is not one), and those of
  // OnnxModel::RunTokens().
  Status Run(std::span<const TokenInput> windows, std::span<float> keys,
             std::span<float> logits) const;

 private:
  struct Impl;
  explicit TokenModel(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace resmem

#endif  // RESMEM_LM_TOKEN_MODEL_H_
