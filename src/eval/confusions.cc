#include "eval/confusions.h"

#include <algorithm>

namespace resmem {

void ConfusionCounts::Add(int32_t label, int32_t base, int32_t resmem) {
  if (base != label) ++times_[{label, base}].base;
  if (resmem != label) ++times_[{label, resmem}].resmem;
}

std::vector<Confusion> ConfusionCounts::Most(size_t most,
                                             const std::vector<GroupResult>& classes) const {
  std::vector<Confusion> confusions;
  for (const auto& [pair, times] : times_) {
    confusions.push_back({classes[static_cast<size_t>(pair.first)].name,
                          classes[static_cast<size_t>(pair.second)].name, times.base,
                          times.resmem});
  }
  std::stable_sort(
      confusions.begin(), confusions.end(),
      [](const Confusion& a, const Confusion& b) { return a.base + a.resmem > b.base + b.resmem; });
  if (confusions.size() > most) confusions.resize(most);
  return confusions;
}

}  // namespace resmem
