#include "protocol/json_value.h"

#include <nlohmann/json.hpp>

namespace resmem::serve {
namespace {

// What nlohmann's reader, which does not recurse, finds.
class Builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Builder(const JsonLimits& limits) : limits_(limits) {}

  bool null() override { return Add({}); }
  bool boolean(bool value) override {
    JsonValue made;
    made.kind = JsonValue::Kind::kBool;
    made.boolean = value;
    return Add(std::move(made));
  }
  bool number_integer(number_integer_t value) override {
    JsonNumber number;
    number.kind = JsonNumber::Kind::kSigned;
    number.negative = value;
    return AddNumber(number);
  }
  bool number_unsigned(number_unsigned_t value) override {
    JsonNumber number;
    number.kind = JsonNumber::Kind::kUnsigned;
    number.whole = value;
    return AddNumber(number);
  }
  bool number_float(number_float_t value, const string_t&) override {
    JsonNumber number;
    number.real = value;
    return AddNumber(number);
  }
  bool string(string_t& value) override {
    JsonValue made;
    made.kind = JsonValue::Kind::kText;
    made.text = std::move(value);
    return Add(std::move(made));
  }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override {
    JsonValue made;
    made.kind = JsonValue::Kind::kObject;
    return Open(std::move(made));
  }
  bool key(string_t& name) override {
    Level& top = stack_.back();
    if (top.value.object.contains(name)) return Fail("the member \"" + name + "\" comes twice");
    top.member = std::move(name);
    return true;
  }
  bool end_object() override { return Close(); }
  bool start_array(std::size_t) override {
    JsonValue made;
    made.kind = JsonValue::Kind::kNumbers;  // until something else comes
    made.shape = {0};
    return Open(std::move(made));
  }
  bool end_array() override { return Close(); }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    // Its own words, "[json.exception.parse_error.101] parse error at ...: what"
    const std::string words = error.what();
    const size_t colon = words.find(": ");
    return Fail("JSON, byte " + std::to_string(position) + ": " +
                (colon == std::string::npos ? "not sound" : words.substr(colon + 2, 160)));
  }

  bool failed() const { return failed_; }
  const std::string& error() const { return error_; }
  JsonValue& result() { return result_; }

 private:
  struct Level {
    JsonValue value;
    std::string member;
  };

  bool Fail(std::string words) {
    if (!failed_) error_ = std::move(words);
    failed_ = true;
    return false;
  }

  bool Open(JsonValue made) {
    if (static_cast<int>(stack_.size()) >= limits_.depth) {
      return Fail("JSON is nested deeper than " + std::to_string(limits_.depth) + " levels");
    }
    stack_.push_back({std::move(made), {}});
    return true;
  }

  bool Close() {
    JsonValue done = std::move(stack_.back().value);
    stack_.pop_back();
    return Add(std::move(done));
  }

  bool AddNumber(JsonNumber number) {
    if (!stack_.empty()) {
      JsonValue& top = stack_.back().value;
      if (top.kind == JsonValue::Kind::kNumbers && top.shape.size() == 1) {
        top.numbers.push_back(number);
        ++top.shape[0];
        return true;
      }
    }
    JsonValue made;
    made.kind = JsonValue::Kind::kNumber;
    made.number = number;
    return Add(std::move(made));
  }

  bool Add(JsonValue made) {
    if (made.kind != JsonValue::Kind::kNumbers && ++values_ > limits_.values) {
      return Fail("JSON holds more than " + std::to_string(limits_.values) +
                  " values that are not numbers in arrays");
    }
    if (stack_.empty()) {
      result_ = std::move(made);
      return true;
    }
    Level& top = stack_.back();
    if (top.value.kind == JsonValue::Kind::kObject) {
      top.value.object.emplace(std::move(top.member), std::move(made));
      return true;
    }
    if (top.value.kind == JsonValue::Kind::kNumbers) {
      if (JoinsNumbers(top.value, made)) return true;
      if (!top.value.numbers.empty() || top.value.shape.size() > 1) {
        return Fail("an array of numbers holds " + std::string(KindName(made.kind)) +
                    ", or arrays of other lengths");
      }
      top.value.kind = JsonValue::Kind::kList;
    }
    if (made.kind == JsonValue::Kind::kNumbers && ++values_ > limits_.values) {
      return Fail("JSON holds too many lists");
    }
    top.value.list.push_back(std::move(made));
    return true;
  }

  // Another line of an array of arrays: it has the first one's shape.
  static bool JoinsNumbers(JsonValue& array, JsonValue& line) {
    if (line.kind != JsonValue::Kind::kNumbers) return false;
    if (array.shape.size() == 1 && array.shape[0] == 0) {
      array.shape.insert(array.shape.end(), line.shape.begin(), line.shape.end());
      array.shape[0] = 1;
      array.numbers = std::move(line.numbers);
      return true;
    }
    if (array.shape.size() != line.shape.size() + 1 ||
        !std::equal(line.shape.begin(), line.shape.end(), array.shape.begin() + 1)) {
      return false;
    }
    ++array.shape[0];
    array.numbers.insert(array.numbers.end(), line.numbers.begin(), line.numbers.end());
    return true;
  }

  const JsonLimits limits_;
  std::vector<Level> stack_;
  int64_t values_ = 0;
  JsonValue result_;
  bool failed_ = false;
  std::string error_;
};

}  // namespace

double JsonNumber::AsDouble() const {
  switch (kind) {
    case Kind::kFloat:
      return real;
    case Kind::kSigned:
      return static_cast<double>(negative);
    default:
      return static_cast<double>(whole);
  }
}

bool JsonNumber::AsInt64(int64_t* value) const {
  if (kind == Kind::kSigned) return *value = negative, true;
  if (kind != Kind::kUnsigned || whole > INT64_MAX) return false;
  return *value = static_cast<int64_t>(whole), true;
}

bool JsonNumber::AsUint64(uint64_t* value) const {
  if (kind == Kind::kSigned && negative >= 0) return *value = static_cast<uint64_t>(negative), true;
  if (kind != Kind::kUnsigned) return false;
  return *value = whole, true;
}

const JsonValue* JsonValue::Find(std::string_view name) const {
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &found->second;
}

Result<JsonValue> ParseJson(std::string_view text, const JsonLimits& limits) {
  Builder builder(limits);
  const bool sound = nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  if (!sound || builder.failed()) {
    return Status(ErrorCode::kBadData,
                  builder.error().empty() ? "the body is not JSON" : builder.error());
  }
  return std::move(builder.result());
}

const char* KindName(JsonValue::Kind kind) {
  switch (kind) {
    case JsonValue::Kind::kNull:
      return "null";
    case JsonValue::Kind::kBool:
      return "true or false";
    case JsonValue::Kind::kNumber:
      return "a number";
    case JsonValue::Kind::kText:
      return "a text";
    case JsonValue::Kind::kNumbers:
      return "an array of numbers";
    case JsonValue::Kind::kList:
      return "a list";
    default:
      return "an object";
  }
}

}  // namespace resmem::serve
