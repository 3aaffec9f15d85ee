// The JSON file that says how a model is trained: one flat object, with a version and a field for
// each member of the recipe.
#ifndef RESMEM_LAB_RECIPE_RECIPE_FILE_H_
#define RESMEM_LAB_RECIPE_RECIPE_FILE_H_

#include <cstdint>
#include <initializer_list>
#include <string>

#include "format/json_fields.h"
#include "resmem/status.h"

namespace resmem {

// Atomically.
Status WriteRecipeFile(const std::string& path, const Json& json);

// Errors: kNotFound, kBadData (too large, not an object), kTooNew (`version_name` is not
// `version`), kIo.
Result<Json> ReadRecipeFile(const std::string& path, const char* version_name, int64_t version);

// A value as a message shows it, whatever bytes it holds.
std::string ShownJson(const Json& value);

// From JSON into one member; false: another type.
bool TakeJson(const Json& value, std::string* out);
bool TakeJson(const Json& value, bool* out);
bool TakeJson(const Json& value, double* out);
bool TakeJson(const Json& value, int64_t* out);
bool TakeJson(const Json& value, uint64_t* out);

// One of the values that `name_of` gives a name.
template <typename Enum>
bool TakeNamed(const Json& value, std::initializer_list<Enum> all, const char* (*name_of)(Enum),
               Enum* out) {
  for (const Enum one : all) {
    if (value == name_of(one)) return *out = one, true;
  }
  return false;
}

// Keeps the first thing that was wrong with the fields of a recipe.
class RecipeFields {
 public:
  RecipeFields(const Json& json, std::string path) : json_(json), path_(std::move(path)) {}
  const Status& status() const { return status_; }  // kBadData with path and field

  bool Has(const char* name) const { return json_.contains(name); }
  // take(value) says whether the value has the right type.
  template <typename Taking>
  void Read(const char* name, const Taking& take) {
    if (!status_.ok()) return;
    const auto found = json_.find(name);
    if (found == json_.end()) {
      Fail(Text("lacks \"", name, '"'));
    } else if (!take(*found)) {
      Fail(Text('"', name, "\" is ", ShownJson(*found), ", which is not a value of its type"));
    }
  }

 private:
  void Fail(const std::string& problem) {
    status_ = Status(ErrorCode::kBadData, Text(path_, ": ", problem));
  }

  const Json& json_;
  std::string path_;
  Status status_;
};

}  // namespace resmem

#endif  // RESMEM_LAB_RECIPE_RECIPE_FILE_H_
