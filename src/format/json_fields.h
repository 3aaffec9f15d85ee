// Fields of a JSON object that somebody else wrote.
#ifndef RESMEM_FORMAT_JSON_FIELDS_H_
#define RESMEM_FORMAT_JSON_FIELDS_H_

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "resmem/status.h"
#include "support/json.h"
#include "support/json_reader.h"
#include "support/text.h"

namespace resmem {

// kCorrupt where it is not JSON, has too many keys, or is nested deeper than `levels`.
inline Result<Json> ParseShallowJson(std::string_view text, int levels) {
  JsonLimits limits;
  limits.levels = levels;
  return ReadJson(text, limits);
}

// Takes fields out of an object by name and type.  Keeps the first thing that was wrong.
class Fields {
 public:
  Fields(const Json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object_.is_object()) Fail(where_ + " is not an object");
  }
  const Status& status() const { return status_; }
  void Fail(const std::string& message) {
    if (status_.ok()) status_ = Status(ErrorCode::kCorrupt, message);
  }

  const Json* Find(const char* name) {
    if (!status_.ok()) return nullptr;
    const auto found = object_.find(name);
    if (found != object_.end()) return &*found;
    Fail(Text(where_, " lacks ", name));
    return nullptr;
  }
  void Get(const char* name, std::string* out) {
    const Json* value = Find(name);
    if (value == nullptr) return;
    if (!value->is_string()) return Fail(Text(where_, ": ", name, " is not a text"));
    *out = value->get<std::string>();
  }
  void Get(const char* name, bool* out) {
    const Json* value = Find(name);
    if (value == nullptr) return;
    if (!value->is_boolean()) return Fail(Text(where_, ": ", name, " is not true or false"));
    *out = value->get<bool>();
  }
  void Get(const char* name, uint64_t* out) {
    const Json* value = Find(name);
    if (value == nullptr) return;
    if (!value->is_number_unsigned()) {
      return Fail(Text(where_, ": ", name, " is not a whole number of 0 or more"));
    }
    *out = value->get<uint64_t>();
  }
  void Get(const char* name, int64_t* out) {
    uint64_t value = 0;
    Get(name, &value);
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return Fail(Text(where_, ": ", name, " is ", value, ", which is too large"));
    }
    *out = static_cast<int64_t>(value);
  }
  void Get(const char* name, float* out) {
    const Json* value = Find(name);
    if (value == nullptr) return;
    if (!value->is_number()) return Fail(Text(where_, ": ", name, " is not a number"));
    const double number = value->get<double>();
    if (std::abs(number) > std::numeric_limits<float>::max()) {
      return Fail(Text(where_, ": ", name, " is ", number, ", which is too large"));
    }
    *out = static_cast<float>(number);
  }
  // One of the values that `name_of` gives a name.
  template <typename Enum, size_t kCount>
  void Get(const char* name, const std::array<Enum, kCount>& values, const char* (*name_of)(Enum),
           Enum* out) {
    std::string text;
    Get(name, &text);
    const auto found = std::find_if(values.begin(), values.end(),
                                    [&](Enum value) { return text == name_of(value); });
    if (found == values.end()) return Fail(Text(where_, ": ", name, " is \"", text, '"'));
    *out = *found;
  }
  void Get(const char* name, std::vector<std::string>* out) {
    const Json* value = Find(name);
    if (value == nullptr) return;
    const bool texts = value->is_array() && std::all_of(value->begin(), value->end(),
                                                        [](auto& t) { return t.is_string(); });
    if (!texts) return Fail(Text(where_, ": ", name, " is not a list of texts"));
    *out = value->get<std::vector<std::string>>();
  }
  void Get(const char* name, std::vector<float>* out) {
    const Json* value = Find(name);
    if (value == nullptr) return;
    const bool numbers = value->is_array() && std::all_of(value->begin(), value->end(),
                                                          [](auto& n) { return n.is_number(); });
    if (!numbers) return Fail(Text(where_, ": ", name, " is not a list of numbers"));
    for (const double number : value->get<std::vector<double>>()) {
      if (std::abs(number) > std::numeric_limits<float>::max()) {
        return Fail(Text(where_, ": ", name, " holds ", number, ", which is too large"));
      }
      out->push_back(static_cast<float>(number));
    }
  }
  void Get(const char* name, std::map<std::string, std::string>* out) {
    const Json* value = Find(name);
    if (value == nullptr) return;
    if (!value->is_object()) return Fail(Text(where_, ": ", name, " is not an object"));
    for (const auto& [key, text] : value->items()) {
      if (!text.is_string()) return Fail(Text(where_, ": ", name, " holds more than texts"));
      out->emplace(key, text.get<std::string>());
    }
  }

 private:
  const Json& object_;
  std::string where_;
  Status status_;
};

}  // namespace resmem

#endif  // RESMEM_FORMAT_JSON_FIELDS_H_
