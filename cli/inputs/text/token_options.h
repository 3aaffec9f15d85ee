// The language model and the tokens that a command works on.
#ifndef RESMEM_CLI_INPUTS_TEXT_TOKEN_OPTIONS_H_
#define RESMEM_CLI_INPUTS_TEXT_TOKEN_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "console/command_line.h"
#include "resmem/lm/memorized_text.h"
#include "resmem/lm/token_model.h"
#include "resmem/lm/token_rows.h"

namespace resmem::cli {

class TokenModelOptions {
 public:
  // --model, --engine, --onnxruntime, --threads.
  void Declare(CommandLine& line);
  Result<TokenModel> Open() const { return TokenModel::Open(path_, engine_, runtime_); }
  // The one that made the memory (else kMismatch), by the same engine unless another is asked for.
  Result<TokenModel> OpenFor(const std::string& memory_path, const ResidualMemory& memory) const;
  const std::string& path() const { return path_; }
  int threads() const { return runtime_.threads; }

 private:
  std::string path_;
  TokenEngine engine_ = TokenEngine::kAuto;
  OnnxOptions runtime_;
};

// Of a new memory: of this length, or 256 if the model's context allows; a stride of three
// quarters.
WindowShape NewWindows(int64_t context, std::optional<int64_t> length,
                       std::optional<int64_t> stride);

// --documents, --window and --stride.  Who gives no windows gets those of the memory, or for a new
// one those that the model can read: a command needs no numbers of the one before it.
class TokenRowsChoice {
 public:
  void DeclareForNew(CommandLine& line);
  void DeclareForMemory(CommandLine& line);
  TokenRowsOptions ForNew(const TokenModel& model) const;
  TokenRowsOptions ForMemory(const ResidualMemory& memory) const;

 private:
  void Declare(CommandLine& line, const char* usual_length, const char* usual_stride);
  TokenRowsOptions Choose(WindowShape usual) const;
  int64_t documents_ = 0;
  std::optional<int64_t> length_, stride_;
};

}  // namespace resmem::cli

#endif  // RESMEM_CLI_INPUTS_TEXT_TOKEN_OPTIONS_H_
