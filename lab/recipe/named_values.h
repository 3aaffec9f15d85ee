// Names of an enum's values.  An enum has them by a function NamesOf(Enum) beside it, which gives
// pairs of name and value.
#ifndef RESMEM_LAB_RECIPE_NAMED_VALUES_H_
#define RESMEM_LAB_RECIPE_NAMED_VALUES_H_

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace resmem {

template <typename Enum>
using NamedValue = std::pair<const char*, Enum>;

template <typename Enum>
const char* NameOf(Enum value) {
  for (const auto& [name, one] : NamesOf(value)) {
    if (one == value) return name;
  }
  return "";
}

// As an option of a command takes them.
template <typename Enum>
std::vector<std::pair<std::string, Enum>> ChoicesOf() {
  const auto names = NamesOf(Enum{});
  return {names.begin(), names.end()};
}

}  // namespace resmem

#endif  // RESMEM_LAB_RECIPE_NAMED_VALUES_H_
