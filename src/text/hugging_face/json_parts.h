// The parts that a tokenizer.json is made of: objects with a "type" and fields that may be missing.
#ifndef RESMEM_TEXT_HUGGING_FACE_JSON_PARTS_H_
#define RESMEM_TEXT_HUGGING_FACE_JSON_PARTS_H_

#include <cstdint>
#include <string>

#include "resmem/status.h"
#include "support/json.h"
#include "text/hugging_face/pattern.h"

namespace resmem {

// Null where the field is missing or null.
const Json* FindPart(const Json& object, const char* name);
// `usual` where the field is missing or null; kBadData where it has another type.
Result<bool> ReadFlag(const Json& object, const char* name, bool usual);
Result<std::string> ReadWords(const Json& object, const char* name, const std::string& usual);
Result<int64_t> ReadCount(const Json& object, const char* name, int64_t usual);
// {"String": ...} or {"Regex": ...}
Result<Pattern> ReadPattern(const Json& object);

// What `object` says in "type".
Result<std::string> TypeOf(const Json& object, const char* what);
Status UnknownType(const char* what, const std::string& type);

// Of one kind: a file of a sound tokenizer has a few.
inline constexpr size_t kMostParts = 64;

// U+2581, which stands for a blank.
inline constexpr char kBlankMark[] = "\xE2\x96\x81";

}  // namespace resmem

#endif  // RESMEM_TEXT_HUGGING_FACE_JSON_PARTS_H_
