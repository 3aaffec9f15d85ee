// What lm eval, lm tune, lm examples and lm explain have in common: a memory of tokens, the model
// that made it, and text to ask it about.
#ifndef RESMEM_CLI_INPUTS_TEXT_TOKEN_QUESTION_H_
#define RESMEM_CLI_INPUTS_TEXT_TOKEN_QUESTION_H_

#include <memory>
#include <string>

#include "inputs/answer_options.h"
#include "inputs/text/token_options.h"

namespace resmem::cli {

class TokenQuestion {
 public:
  // The memory, --tokens ("held-out text from resmem lm tokens"), --documents, --window, --stride.
  void Declare(CommandLine& line, const std::string& kind_of_text);
  void DeclareModel(CommandLine& line);  // the group Model

  struct Opened {
    ResidualMemory memory;
    std::unique_ptr<TokenSet> set;
    std::unique_ptr<TokenModel> model;
    TokenRows rows;  // of both
  };
  Result<ResidualMemory> OpenMemory(const OpenOptions& options) const {
    return ResidualMemory::Open(memory_path_, options);
  }
  Result<Opened> Open(ResidualMemory memory) const;

  const std::string& memory_path() const { return memory_path_; }
  const std::string& tokens_path() const { return tokens_path_; }
  const std::string& model_path() const { return model_.path(); }
  int threads() const { return model_.threads(); }

 private:
  std::string memory_path_, tokens_path_;
  TokenRowsChoice rows_;
  TokenModelOptions model_;
};

// What it takes to show neighbors as text.
class TokenNeighborOptions {
 public:
  // Whose answer, k and sigma, --exact, `memorized` (an option that names the token set),
  // --tokenizer.
  void Declare(CommandLine& line, const char* memorized);

  struct Opened {
    Tokenizer tokenizer;
    MemorizedText memorized;
  };
  Result<Opened> Open(const ResidualMemory& memory) const;
  bool exact() const { return exact_; }
  const AnswerOptions& answer() const { return answer_; }

 private:
  const char* memorized_option_ = "";
  std::string memorized_path_, tokenizer_path_;
  bool exact_ = false;
  AnswerOptions answer_;
};

}  // namespace resmem::cli

#endif  // RESMEM_CLI_INPUTS_TEXT_TOKEN_QUESTION_H_
