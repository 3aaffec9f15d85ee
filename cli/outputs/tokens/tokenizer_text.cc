#include "outputs/tokens/tokenizer_text.h"

#include "console/format.h"
#include "outputs/model_text.h"

namespace resmem::cli {

Result<std::string> TokenizerText(const std::string& path, const Tokenizer& tokenizer,
                                  const std::string& sample) {
  Table facts = Table::Facts();
  facts.AddRow({"tokenizer", path + ": " + TokenizerKindName(tokenizer.kind()) + ", " +
                                 Counted(tokenizer.size(), "piece")});
  const auto shown = [&](std::optional<int32_t> id, const char* none) {
    return id ? std::to_string(*id) + " " + Printable(tokenizer.piece(*id)) : none;
  };
  if (tokenizer.begin_id()) facts.AddRow({"begin", shown(tokenizer.begin_id(), "")});
  facts.AddRow({"end", shown(tokenizer.end_id(), "none is known: name one to lm tokens by --end")});
  facts.AddRow({"unknown", shown(tokenizer.unknown_id(), "none")});
  facts.AddRow({"fingerprint", tokenizer.fingerprint()});
  if (sample.empty()) return facts.Text();
  std::vector<int32_t> ids;
  RESMEM_RETURN_IF_ERROR(tokenizer.Encode(sample, &ids));
  std::string numbers, pieces;
  for (const int32_t id : ids) {
    numbers += (numbers.empty() ? "" : " ") + std::to_string(id);
    pieces += (pieces.empty() ? "" : " ") + Printable(tokenizer.piece(id));
  }
  RESMEM_ASSIGN_OR_RETURN(const std::string decoded, tokenizer.Decode(ids));
  facts.AddRow({"ids", numbers});
  facts.AddRow({"pieces", pieces});
  facts.AddRow({"decoded", Printable(decoded)});
  return facts.Text();
}

}  // namespace resmem::cli
