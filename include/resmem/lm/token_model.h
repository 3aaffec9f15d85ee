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
#include <vector>

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

// A text that grows: what the model computed of earlier tokens is kept where it can be.  One thread
// at a time.
class TokenStream;

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
  friend class TokenStream;
  struct Impl;
  explicit TokenModel(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

class TokenStream {
 public:
  // Of no tokens; the model must outlive it.
  explicit TokenStream(const TokenModel& model) : model_(&model) {}

  // Whether a token costs less than all that were read before it.
  bool keeps_past() const;
  // Reads `ids` (at least one) behind those read before and answers the last one, by no more than
  // the context's last tokens.  Where the past is kept and the context is full, the last three
  // quarters of it are read again.  Errors: those of TokenModel::Run().
  Status Append(std::span<const int32_t> ids, std::span<float> key, std::span<float> logits);

 private:
  const TokenModel* model_;
  TokenPast past_;
  std::vector<int32_t> ids_;  // read so far
};

}  // namespace resmem

#endif  // RESMEM_LM_TOKEN_MODEL_H_
