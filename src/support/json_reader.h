// JSON that somebody else wrote, in time that grows with its length and no faster.
#ifndef RESMEM_SUPPORT_JSON_READER_H_
#define RESMEM_SUPPORT_JSON_READER_H_

#include <cstdint>
#include <string_view>

#include "resmem/status.h"
#include "support/json.h"

namespace resmem {

struct JsonLimits {
  int levels = 8;  // of nesting; what is deeper is not parsed
  int64_t keys_in_object = 10'000;
  int64_t keys = 4'000'000;  // in all objects
};

// kCorrupt where it is not JSON, breaks a limit, or an object has a key twice.
//
// nlohmann's own ways take quadratic time: a callback looks through all brothers after each value,
// and an ordered object through all keys before a new one.
Result<Json> ReadJson(std::string_view text, const JsonLimits& limits);

}  // namespace resmem

#endif  // RESMEM_SUPPORT_JSON_READER_H_
