#include "inputs/text/text_options.h"

#include "console/format.h"

namespace resmem::cli {

namespace {

const std::vector<std::pair<std::string, TextForm>> kForms = {
    {"found", TextForm::kFound},           {"text", TextForm::kText},
    {"paragraphs", TextForm::kParagraphs}, {"wikitext", TextForm::kWikiText},
    {"jsonl", TextForm::kJsonLines},       {"doc", TextForm::kDocTags}};

}  // namespace

void TextChoice::AddWords(std::vector<std::string>* words) const {
  words->insert(words->end(), paths_.begin(), paths_.end());
  for (const auto& [name, form] : kForms) {
    if (form == options_.form && form != TextForm::kFound) {
      words->insert(words->end(), {"--form", name});
    }
  }
}

void TextChoice::Declare(CommandLine& line) {
  line.Arguments("TEXT", &paths_,
                 "files or folders: plain text, WikiText, JSON lines with a text field, "
                 "WikiExtractor <doc> files; also .gz, .zst, .xz")
      .Required()
      .File();
  line.Choice<TextForm, TextForm>(
      "--form", &options_.form, kForms,
      "what a document is (docs/text.md); found: detected from each file; text: the whole file; "
      "paragraphs: text between blank lines");
}

void WarnOfCounts(const TextCounts& counts, const std::string& first_broken_record,
                  Console& console) {
  if (counts.broken_records > 0) {
    console.Warn(Counted(counts.broken_records, "broken record") +
                 " left out; the first: " + first_broken_record);
  }
  if (counts.empty_documents > 0) {
    console.Warn(Counted(counts.empty_documents, "empty document") + " left out");
  }
  if (counts.cut_documents > 0) {
    console.Warn(Counted(counts.cut_documents, "document") +
                 " too long for one, split into several");
  }
  if (counts.bad_bytes > 0) {
    console.Warn(Counted(counts.bad_bytes, "byte") + " not UTF-8, replaced by U+FFFD");
  }
  if (counts.nul_bytes > 0) {
    console.Warn(Counted(counts.nul_bytes, "NUL byte") + " replaced by spaces");
  }
}

}  // namespace resmem::cli
