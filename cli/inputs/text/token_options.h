// The language model and the tokens that a command works on.
#ifndef RESMEM_CLI_INPUTS_TEXT_TOKEN_OPTIONS_H_
#define RESMEM_CLI_INPUTS_TEXT_TOKEN_OPTIONS_H_

#include <optional>
#include <string>

#include "console/command_line.h"
#include "resmem/lm/token_model.h"
#include "resmem/lm/token_rows.h"
#include "resmem/lm/tokenizer.h"

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

// kMismatch where another tokenizer made the tokens of the memory.
Status CheckTokenizer(const std::string& path, const Tokenizer& tokenizer,
                      const ResidualMemory& memory);

// --documents, --window and --stride.
void DeclareTokenRows(CommandLine& line, TokenRowsOptions* options);
// --window and --stride as a further command needs them: nothing where they are the usual ones.
void AddWindowWords(const WindowShape& shape, std::vector<std::string>* words);

// The text that a memory of tokens was made of: where a neighbor stands.
class MemorizedText {
 public:
  // The token set that the memory's notes name, or `path` in its place, as `option` gave it; both
  // must be the one that was memorized (kMismatch).
  static Result<MemorizedText> Open(const std::string& path, const char* option,
                                    const ResidualMemory& memory);
  const TokenSet& set() const { return set_; }

  struct Place {
    std::string context;  // the last tokens up to that of the row, decoded
    std::string title;    // of its document
  };
  // Of the memory's row of this id and label.  A row that was appended later is not of this text:
  // then the title says so.
  Result<Place> Find(const Tokenizer& tokenizer, uint64_t id, int32_t label, int64_t tokens) const;

 private:
  explicit MemorizedText(TokenSet set) : set_(std::move(set)) {}
  // Rows have the numbers of tokens without the last one of each document.  Requires one of these.
  int64_t DocumentOf(int64_t row) const;
  TokenSet set_;
};

}  // namespace resmem::cli

#endif  // RESMEM_CLI_INPUTS_TEXT_TOKEN_OPTIONS_H_
