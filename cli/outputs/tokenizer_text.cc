#include "outputs/tokenizer_text.h"

#include "console/format.h"
#include "outputs/model_text.h"

namespace resmem::cli {

Result<std::string> TokenizerText(const std::string& path, const Tokenizer& tokenizer,
                                  const std::string& sample) {
  Table facts = Table::Facts();
  facts.AddRow({"tokenizer", path + ": " + TokenizerKindName(tokenizer.kind()) + ", " +
                                 Counted(tokenizer.size(), "piece")});
  facts.AddRow({"end", tokenizer.end_id() ? std::to_string(*tokenizer.end_id()) + " " +
                                                Printable(tokenizer.piece(*tokenizer.end_id()))
                                          : "none: it cannot end documents"});
  facts.AddRow({"unknown", std::to_string(tokenizer.unknown_id()) + " " +
                               Printable(tokenizer.piece(tokenizer.unknown_id()))});
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
