// JSON from strangers.  Numbers of an array lie side by side (16 bytes each), nested arrays of
// numbers are one array with a shape, and depth is limited while reading, so that a document costs
// no more than a fixed multiple of its length.
#ifndef RESMEM_SERVER_PROTOCOL_JSON_VALUE_H_
#define RESMEM_SERVER_PROTOCOL_JSON_VALUE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "resmem/status.h"

namespace resmem::serve {

// A number as it was written: whole numbers keep all of their 64 bits.
struct JsonNumber {
  enum class Kind : uint8_t { kFloat, kSigned, kUnsigned };
  Kind kind = Kind::kFloat;
  union {
    double real = 0;
    int64_t negative;
    uint64_t whole;
  };

  double AsDouble() const;
  // False where the number is not whole or not in the range.
  bool AsInt64(int64_t* value) const;
  bool AsUint64(uint64_t* value) const;
};

struct JsonValue {
  enum class Kind { kNull, kBool, kNumber, kText, kNumbers, kList, kObject };

  Kind kind = Kind::kNull;
  bool boolean = false;
  JsonNumber number;
  std::string text;
  // kNumbers: [[1, 2], [3, 4]] has the shape 2 x 2; an empty array is one of shape 0.
  std::vector<JsonNumber> numbers;
  std::vector<int64_t> shape;
  std::vector<JsonValue> list;  // kList: what is not an array of numbers
  std::map<std::string, JsonValue, std::less<>> object;

  // Null where this is no object or has no such member.
  const JsonValue* Find(std::string_view name) const;
};

struct JsonLimits {
  int depth = 16;
  int64_t values = 200'000;  // but for numbers in arrays

  bool operator==(const JsonLimits&) const = default;
};

// Errors: kBadData, with the place.  A member that comes twice is one.
Result<JsonValue> ParseJson(std::string_view text, const JsonLimits& limits = {});

// For messages: "a number", "an object".
const char* KindName(JsonValue::Kind kind);

}  // namespace resmem::serve

#endif  // RESMEM_SERVER_PROTOCOL_JSON_VALUE_H_
