#include "recipe/recipe_codec.h"

#include <algorithm>
#include <span>

#include "support/file_system.h"

namespace resmem {
namespace {

constexpr size_t kMostRecipeBytes = size_t{1} << 20;

}  // namespace

Status WriteRecipeJson(const std::string& path, const Json& json) {
  const std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  return WriteFileAtomically(FileSystem::Posix(), path,
                             std::as_bytes(std::span(text.data(), text.size())));
}

Result<Json> ReadRecipeJson(const std::string& path, const char* version_field, int64_t version) {
  RESMEM_ASSIGN_OR_RETURN(const MappedFile file, FileSystem::Posix().Map(path));
  const auto bad = [&](const std::string& problem) {
    return Status(ErrorCode::kBadData, Text(path, ": ", problem));
  };
  if (file.bytes().size() > kMostRecipeBytes) return bad("too large for a recipe (1 MiB)");
  const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()),
                              file.bytes().size());
  // A recipe is an object of values and lists: deeper nesting is not parsed at all.
  auto parsed = ParseShallowJson(text, 3);
  if (!parsed.ok()) return bad(parsed.status().message());
  Json json = std::move(*parsed);
  if (!json.is_object()) return bad("not a JSON object");
  if (json.value(version_field, Json()) != version) {
    return Status(ErrorCode::kTooNew, Text(path, ": ", version_field, " is not ", version,
                                           ", the version that this program reads"));
  }
  return json;
}

std::string ShownJson(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool TakeJson(const Json& value, std::string* out) {
  return value.is_string() && (*out = value.get<std::string>(), true);
}
bool TakeJson(const Json& value, bool* out) {
  return value.is_boolean() && (*out = value.get<bool>(), true);
}
bool TakeJson(const Json& value, double* out) {
  return value.is_number() && (*out = value.get<double>(), true);
}
bool TakeJson(const Json& value, int64_t* out) {
  if (!value.is_number_integer()) return false;
  if (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t{INT64_MAX}) return false;
  return *out = value.get<int64_t>(), true;
}
bool TakeJson(const Json& value, uint64_t* out) {
  return value.is_number_unsigned() && (*out = value.get<uint64_t>(), true);
}
bool TakeJson(const Json& value, std::vector<int64_t>* out) {
  if (!value.is_array()) return false;
  out->assign(value.size(), 0);
  return std::equal(value.begin(), value.end(), out->begin(),
                    [](const Json& from, int64_t& to) { return TakeJson(from, &to); });
}

}  // namespace resmem
