#include "text/token_set_file.h"

#include <array>
#include <utility>

#include "format/json_fields.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr int kJsonLevels = 4;

using CountField = std::pair<const char*, int64_t TextCounts::*>;
constexpr std::array kCountFields = {
    CountField{"files", &TextCounts::files},
    CountField{"bytes", &TextCounts::bytes},
    CountField{"documents", &TextCounts::documents},
    CountField{"empty_documents", &TextCounts::empty_documents},
    CountField{"broken_records", &TextCounts::broken_records},
    CountField{"cut_documents", &TextCounts::cut_documents},
    CountField{"bad_bytes", &TextCounts::bad_bytes},
    CountField{"nul_bytes", &TextCounts::nul_bytes},
};

}  // namespace

std::vector<SectionShape> TokenSetSections(const TokenSetSizes& sizes) {
  const bool narrow = HasNarrowIds(sizes.vocabulary_size);
  return {{"ids", narrow ? StoredType::kU16 : StoredType::kU32, sizes.tokens, 1},
          {"document_ends", StoredType::kU64, sizes.documents, 1},
          {"title_offsets", StoredType::kU64, sizes.documents + 1, 1},
          {"title_bytes", StoredType::kU8, sizes.title_bytes, 1},
          {"json", StoredType::kU8, sizes.json_bytes, 1}};
}

Status CheckVocabulary(int64_t vocabulary_size, int64_t end_id) {
  if (vocabulary_size < 2 || vocabulary_size > INT32_MAX) {
    return {ErrorCode::kInvalidArgument,
            Text("a vocabulary of ", vocabulary_size, " tokens; allowed are 2 to ", INT32_MAX)};
  }
  if (end_id < 0 || end_id >= vocabulary_size) {
    return {ErrorCode::kInvalidArgument,
            Text("the id ", end_id, " that ends a document is not in the vocabulary of ",
                 vocabulary_size, " tokens")};
  }
  return {};
}

std::string DescriptionText(const TokenSetDescription& description) {
  Json counts = Json::object();
  for (const auto& [name, field] : kCountFields) counts[name] = description.text.*field;
  const Json json = {{"vocabulary_size", description.vocabulary_size},
                     {"end_id", description.end_id},
                     {"tokenizer", description.tokenizer},
                     {"text", counts}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<TokenSetDescription> ParseDescription(std::string_view text) {
  RESMEM_ASSIGN_OR_RETURN(const Json json, ParseShallowJson(text, kJsonLevels));
  TokenSetDescription description;
  int64_t end_id = 0;
  Fields fields(json, "its description");
  fields.Get("vocabulary_size", &description.vocabulary_size);
  fields.Get("end_id", &end_id);
  fields.Get("tokenizer", &description.tokenizer);
  const Json* counts_json = fields.Find("text");
  RESMEM_RETURN_IF_ERROR(fields.status());
  Fields counts(*counts_json, "its text");
  for (const auto& [name, field] : kCountFields) counts.Get(name, &(description.text.*field));
  RESMEM_RETURN_IF_ERROR(counts.status());
  const Status vocabulary = CheckVocabulary(description.vocabulary_size, end_id);
  if (!vocabulary.ok()) return Status(ErrorCode::kCorrupt, vocabulary.message());
  description.end_id = static_cast<int32_t>(end_id);
  return description;
}

}  // namespace resmem
