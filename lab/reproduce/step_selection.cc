#include "reproduce/step_selection.h"

#include <algorithm>

#include "help/suggest.h"

namespace resmem::cli::reproduce {

Result<std::vector<const Step*>> SelectSteps(std::span<const Step> steps,
                                             const std::vector<std::string>& names) {
  std::vector<std::string> known = {"all"};
  for (const Step& step : steps) known.push_back(step.name);
  const auto covers = [](const std::string& name, const std::string& step) {
    return name == step || name == "all" ||
           (name.ends_with("...") && step.starts_with(name.substr(0, name.size() - 3)));
  };
  for (const std::string& name : names) {
    if (std::any_of(known.begin(), known.end(),
                    [&](const std::string& step) { return covers(name, step); })) {
      continue;
    }
    const std::string near = NearestWord(name, known);
    return Status(ErrorCode::kInvalidArgument,
                  "there is no step '" + name + "'; " +
                      (near.empty() ? "--list shows them" : "did you mean " + near + "?"));
  }
  std::vector<const Step*> selected;
  for (const Step& step : steps) {
    const bool wanted = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return covers(name, step.name);
    });
    if (names.empty() ? step.by_default : wanted) selected.push_back(&step);
  }
  return selected;
}

}  // namespace resmem::cli::reproduce
