// JSON that we write.  Numbers round-trip: a float read back is the same bits.
#ifndef RESMEM_SERVER_PROTOCOL_JSON_TEXT_H_
#define RESMEM_SERVER_PROTOCOL_JSON_TEXT_H_

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace resmem::serve {

// Quoted and escaped.  Bytes that are no UTF-8 become U+FFFD.
void AppendText(std::string_view text, std::string* json);
// null where it is not finite.
void AppendNumber(float value, std::string* json);
void AppendNumber(double value, std::string* json);
template <std::integral T>
void AppendNumber(T value, std::string* json) {
  *json += std::to_string(value);
}
template <class T>
void AppendNumbers(std::span<const T> values, std::string* json) {
  *json += '[';
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) *json += ',';
    AppendNumber(values[i], json);
  }
  *json += ']';
}

// An object or a list, member by member:  JsonText object; object.Add("rows", 5).Add("name", name);
class JsonText {
 public:
  JsonText& Add(std::string_view name, std::string_view text);
  JsonText& Add(std::string_view name, const char* text) {
    return Add(name, std::string_view(text));
  }
  JsonText& Add(std::string_view name, const std::string& text) {
    return Add(name, std::string_view(text));
  }
  JsonText& Add(std::string_view name, bool value);
  JsonText& Add(std::string_view name, double value);
  JsonText& Add(std::string_view name, float value);
  template <std::integral T>
  requires(!std::same_as<T, bool>) JsonText& Add(std::string_view name, T value) {
    Name(name);
    AppendNumber(value, &text_);
    return *this;
  }
  template <class T>
  JsonText& AddNumbers(std::string_view name, std::span<const T> values) {
    Name(name);
    AppendNumbers(values, &text_);
    return *this;
  }
  // `json`: sound JSON.
  JsonText& AddJson(std::string_view name, std::string_view json);

  std::string Object() const { return "{" + text_ + "}"; }

 private:
  void Name(std::string_view name);
  std::string text_;
};

// `parts`: sound JSON each.
std::string JsonList(std::span<const std::string> parts);

// {"error": words}
std::string ErrorJson(std::string_view words);

}  // namespace resmem::serve

#endif  // RESMEM_SERVER_PROTOCOL_JSON_TEXT_H_
