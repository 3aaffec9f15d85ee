#include "text/hugging_face/json_parts.h"

#include "support/text.h"

namespace resmem {
namespace {

Status WrongField(const char* name, const char* wanted) {
  return {ErrorCode::kBadData, Text('"', name, "\" is not ", wanted)};
}

}  // namespace

const Json* FindPart(const Json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

Result<bool> ReadFlag(const Json& object, const char* name, bool usual) {
  const Json* field = FindPart(object, name);
  if (field == nullptr) return usual;
  if (!field->is_boolean()) return WrongField(name, "true or false");
  return field->get<bool>();
}

Result<std::string> ReadWords(const Json& object, const char* name, const std::string& usual) {
  const Json* field = FindPart(object, name);
  if (field == nullptr) return usual;
  if (!field->is_string()) return WrongField(name, "a text");
  return field->get<std::string>();
}

Result<int64_t> ReadCount(const Json& object, const char* name, int64_t usual) {
  const Json* field = FindPart(object, name);
  if (field == nullptr) return usual;
  if (!field->is_number_unsigned() || field->get<uint64_t>() > INT32_MAX) {
    return WrongField(name, "a whole number of 0 or more");
  }
  return field->get<int64_t>();
}

Result<Pattern> ReadPattern(const Json& object) {
  const Json* pattern = FindPart(object, "pattern");
  if (pattern == nullptr) return Status(ErrorCode::kBadData, "\"pattern\" is missing");
  if (pattern->is_string()) return Pattern::OfText(pattern->get<std::string>());
  if (const Json* text = FindPart(*pattern, "String"); text != nullptr && text->is_string()) {
    return Pattern::OfText(text->get<std::string>());
  }
  if (const Json* regex = FindPart(*pattern, "Regex"); regex != nullptr && regex->is_string()) {
    return Pattern::OfExpression(regex->get<std::string>());
  }
  return WrongField("pattern", "a String or a Regex");
}

Result<std::string> TypeOf(const Json& object, const char* what) {
  RESMEM_ASSIGN_OR_RETURN(std::string type, ReadWords(object, "type", ""));
  if (!type.empty()) return type;
  return Status(ErrorCode::kBadData, Text("its ", what, " has no \"type\""));
}

Status UnknownType(const char* what, const std::string& type) {
  constexpr size_t kShown = 60;
  return {ErrorCode::kUnsupported, Text("its ", what, " ", type.substr(0, kShown),
                                        " is not supported; docs/lm.md lists those that are")};
}

}  // namespace resmem
