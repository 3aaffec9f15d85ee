// A token set on disk: docs/memory_format.md, section 8.
#ifndef RESMEM_TEXT_TOKEN_SET_FILE_H_
#define RESMEM_TEXT_TOKEN_SET_FILE_H_

#include <string>
#include <string_view>
#include <vector>

#include "format/format.h"
#include "resmem/lm/token_set.h"

namespace resmem {

// Sections in the order of the file.
enum TokenSetSection : size_t { kIds, kDocumentEnds, kTitleOffsets, kTitleBytes, kDescription };

struct TokenSetSizes {
  int64_t vocabulary_size = 0, tokens = 0, documents = 0, title_bytes = 0, json_bytes = 0;
};
std::vector<SectionShape> TokenSetSections(const TokenSetSizes& sizes);

inline bool HasNarrowIds(int64_t vocabulary_size) {
  return vocabulary_size <= 65536;
}

// kInvalidArgument where the vocabulary or the end id is impossible.
Status CheckVocabulary(int64_t vocabulary_size, int64_t end_id);

inline constexpr int64_t kMaxDescriptionBytes = 1 << 20;
std::string DescriptionText(const TokenSetDescription& description);
// kCorrupt with a message that continues the file's name.
Result<TokenSetDescription> ParseDescription(std::string_view text);

}  // namespace resmem

#endif  // RESMEM_TEXT_TOKEN_SET_FILE_H_
