#include "report/document.h"
#include "resmem/lm/text_report.h"

namespace resmem {

std::string TokenizerJson(const std::string& path, const Tokenizer& tokenizer, const RunInfo& run) {
  Json document = StartDocument("tokenizer", run);
  document["path"] = path;
  document["kind"] = TokenizerKindName(tokenizer.kind());
  document["pieces"] = tokenizer.size();
  document["fingerprint"] = tokenizer.fingerprint();
  if (tokenizer.unknown_id()) document["unknown_id"] = *tokenizer.unknown_id();
  if (tokenizer.begin_id()) document["begin_id"] = *tokenizer.begin_id();
  if (tokenizer.end_id()) document["end_id"] = *tokenizer.end_id();
  return WriteDocument(document);
}

std::string TokenSetJson(const TokenSet& set, int64_t unknown_tokens, const RunInfo& run) {
  const TextCounts& text = set.description().text;
  Json document = StartDocument("tokens", run);
  document["path"] = set.path();
  document["tokens"] = set.size();
  document["documents"] = set.documents();
  document["vocabulary_size"] = set.vocabulary_size();
  document["end_id"] = set.end_id();
  document["tokenizer"] = set.description().tokenizer;
  document["fingerprint"] = set.fingerprint();
  document["unknown_tokens"] = unknown_tokens;
  document["text"] = {{"files", text.files},
                      {"bytes", text.bytes},
                      {"empty_documents", text.empty_documents},
                      {"broken_records", text.broken_records},
                      {"cut_documents", text.cut_documents},
                      {"bad_bytes", text.bad_bytes},
                      {"nul_bytes", text.nul_bytes}};
  return WriteDocument(document);
}

}  // namespace resmem
