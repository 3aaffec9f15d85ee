#include "inputs/text/token_question.h"

#include "inputs/memory_options.h"

namespace resmem::cli {

void TokenQuestion::Declare(CommandLine& line, const std::string& kind_of_text) {
  DeclareMemory(line, &memory_path_);
  line.Value("--tokens", &tokens_path_, "FILE", kind_of_text + " text from resmem lm tokens")
      .Required()
      .File();
  rows_.DeclareForMemory(line);
}

void TokenQuestion::DeclareModel(CommandLine& line) {
  line.Group("Model");
  model_.Declare(line);
}

Result<TokenQuestion::Opened> TokenQuestion::Open(ResidualMemory memory) const {
  RESMEM_ASSIGN_OR_RETURN(TokenSet set, TokenSet::Open(tokens_path_));
  RESMEM_ASSIGN_OR_RETURN(TokenModel model, model_.OpenFor(memory_path_, memory));
  auto kept_set = std::make_unique<TokenSet>(std::move(set));
  auto kept_model = std::make_unique<TokenModel>(std::move(model));
  RESMEM_ASSIGN_OR_RETURN(TokenRows rows,
                          TokenRows::Make(*kept_model, *kept_set, rows_.ForMemory(memory)));
  return Opened{std::move(memory), std::move(kept_set), std::move(kept_model), std::move(rows)};
}

void TokenNeighborOptions::Declare(CommandLine& line, const char* memorized) {
  memorized_option_ = memorized;
  answer_.Declare(line);
  DeclareExact(line, &exact_);
  line.Value(memorized, &memorized_path_, "FILE", "the token set that was memorized")
      .Default("the one recorded in the memory")
      .File();
  line.Value("--tokenizer", &tokenizer_path_, "FILE", "the tokenizer that encoded the tokens")
      .Required()
      .File();
}

Result<TokenNeighborOptions::Opened> TokenNeighborOptions::Open(
    const ResidualMemory& memory) const {
  RESMEM_ASSIGN_OR_RETURN(Tokenizer tokenizer, Tokenizer::Open(tokenizer_path_));
  RESMEM_RETURN_IF_ERROR(CheckTokenizer(tokenizer_path_, tokenizer, memory));
  RESMEM_ASSIGN_OR_RETURN(MemorizedText memorized,
                          MemorizedText::Open(memorized_path_, memorized_option_, memory));
  return Opened{std::move(tokenizer), std::move(memorized)};
}

}  // namespace resmem::cli
