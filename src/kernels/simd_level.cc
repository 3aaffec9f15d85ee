#include "kernels/simd_level.h"

#include <cstdlib>
#include <vector>

#include "resmem/knn_index.h"
#include "support/check.h"

namespace resmem {
namespace {

std::string LevelName(int64_t target) {
  if (target == HWY_AVX3) return "avx512";
  std::string name = hwy::TargetName(target);
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return name;
}

// 0 where no such level was compiled or the machine lacks it.
int64_t TargetNamed(const std::string& name) {
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    if (LevelName(target) == name) return target;
  }
  return 0;
}

struct Choice {
  int64_t target;
  hwy::ChosenTarget table;  // the same choice as Highway's tables want it

  Choice() {
    const char* wanted = std::getenv("RESMEM_SIMD");
    const int64_t named = wanted == nullptr ? 0 : TargetNamed(wanted);
    // The first is the best.
    Set(named != 0 ? named : hwy::SupportedAndGeneratedTargets().front());
  }
  void Set(int64_t new_target) {
    target = new_target;
    table.Update(new_target);
  }
};

Choice& TheChoice() {
  static Choice choice;
  return choice;
}

}  // namespace

const hwy::ChosenTarget& ActiveSimd() {
  return TheChoice().table;
}

ScopedSimdLevel::ScopedSimdLevel(const std::string& name) : previous_(TheChoice().target) {
  const int64_t target = TargetNamed(name);
  RESMEM_DCHECK(target != 0);
  TheChoice().Set(target);
}
ScopedSimdLevel::~ScopedSimdLevel() {
  TheChoice().Set(previous_);
}

std::string SimdName() {
  return LevelName(TheChoice().target);
}

std::vector<std::string> SimdNamesAvailable() {
  std::vector<std::string> names;
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    names.push_back(LevelName(target));
  }
  return names;
}

}  // namespace resmem
