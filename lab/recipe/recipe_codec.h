// Structs of plain members as JSON: recipes in their file, and a run's progress in its checkpoints.
//
// A struct is described by a layout:
//
//   struct Layout {
//     static void Each(auto& object, auto&& visit);       // visit(name, member), as in the file
//     static constexpr bool MayLack(std::string_view);    // a field that older files do not have
//   };
//
// A recipe's file is one flat object of a version and these fields; its layout has also
//   kVersionField, kVersion
//   static constexpr bool IsCompared(std::string_view);   // two recipes may differ in the others
#ifndef RESMEM_LAB_RECIPE_RECIPE_CODEC_H_
#define RESMEM_LAB_RECIPE_RECIPE_CODEC_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "format/json_fields.h"
#include "recipe/named_values.h"
#include "resmem/status.h"

namespace resmem {

// A value as a message shows it, whatever bytes it holds.
std::string ShownJson(const Json& value);

// From JSON into one member; false: another type.
bool TakeJson(const Json& value, std::string* out);
bool TakeJson(const Json& value, bool* out);
bool TakeJson(const Json& value, double* out);
bool TakeJson(const Json& value, int64_t* out);
bool TakeJson(const Json& value, uint64_t* out);
bool TakeJson(const Json& value, std::vector<int64_t>* out);
template <typename Enum>
requires std::is_enum_v<Enum>
bool TakeJson(const Json& value, Enum* out) {
  for (const auto& [name, one] : NamesOf(*out)) {
    if (value == name) return *out = one, true;
  }
  return false;
}

template <typename Layout, typename Object>
void AddFields(const Object& object, Json* json) {
  Layout::Each(object, [&](const char* name, const auto& member) {
    if constexpr (std::is_enum_v<std::remove_cvref_t<decltype(member)>>) {
      (*json)[name] = NameOf(member);
    } else {
      (*json)[name] = member;
    }
  });
}

// kBadData with `where` and the first field that is missing or of another type.
template <typename Layout, typename Object>
Status ReadFields(const Json& json, const std::string& where, Object* object) {
  Status status;
  const auto fail = [&](const std::string& problem) {
    status = Status(ErrorCode::kBadData, Text(where, ": ", problem));
  };
  Layout::Each(*object, [&](const char* name, auto& member) {
    if (!status.ok()) return;
    const auto found = json.find(name);
    if (found == json.end()) {
      if (!Layout::MayLack(name)) fail(Text("lacks \"", name, '"'));
    } else if (!TakeJson(*found, &member)) {
      fail(Text('"', name, "\" is ", ShownJson(*found), ", which is not a value of its type"));
    }
  });
  return status;
}

template <typename Layout, typename Recipe>
Json RecipeJson(const Recipe& recipe) {
  Json json;
  json[Layout::kVersionField] = Layout::kVersion;
  AddFields<Layout>(recipe, &json);
  return json;
}

// Atomically.
Status WriteRecipeJson(const std::string& path, const Json& json);
// Errors: kNotFound, kBadData (too large, not an object), kTooNew (`version_field` is not
// `version`), kIo.
Result<Json> ReadRecipeJson(const std::string& path, const char* version_field, int64_t version);

// The values are not checked.  Errors: those of ReadRecipeJson() and ReadFields().
template <typename Layout, typename Recipe>
Result<Recipe> ReadRecipe(const std::string& path) {
  RESMEM_ASSIGN_OR_RETURN(const Json json,
                          ReadRecipeJson(path, Layout::kVersionField, Layout::kVersion));
  Recipe recipe;
  RESMEM_RETURN_IF_ERROR(ReadFields<Layout>(json, path, &recipe));
  return recipe;
}

// The first field in which two recipes differ, with both values; empty: none.
template <typename Layout, typename Recipe>
std::string FirstDifference(const Recipe& a, const Recipe& b) {
  const Json there = RecipeJson<Layout>(a), asked = RecipeJson<Layout>(b);
  for (const auto& [name, value] : there.items()) {
    if (!Layout::IsCompared(name) || asked[name] == value) continue;
    return Text(name, ": ", ShownJson(value), " there, ", ShownJson(asked[name]), " asked");
  }
  return {};
}

// kInvalidArgument where a member is out of its range.
template <typename Number>
Status InRange(const char* name, Number value, std::type_identity_t<Number> low,
               std::type_identity_t<Number> high) {
  if (value >= low && value <= high) return {};
  return Status(ErrorCode::kInvalidArgument,
                Text(name, " is ", value, "; give a value from ", low, " to ", high));
}

}  // namespace resmem

#endif  // RESMEM_LAB_RECIPE_RECIPE_CODEC_H_
