#include "kernels/simd_level.h"

#include <cstdlib>
#include <vector>

#include "kernels/amx.h"
#include "resmem_program/simd.h"
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

struct Level {
  std::string name;
  int64_t target;  // of Highway
  bool amx = false;
};

// The first is the best.
std::vector<Level> Levels() {
  std::vector<Level> levels;
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    const std::string name = LevelName(target);
    // What Highway has no operations for: all else runs as with AVX-512.
    if (name == "avx512" && AmxAvailable()) levels.push_back({"amx", target, true});
    levels.push_back({name, target});
  }
  return levels;
}

struct Choice {
  Level level;
  hwy::ChosenTarget table;  // the same choice as Highway's tables want it

  Choice() {
    Set(Levels().front());
    if (const char* wanted = std::getenv("RESMEM_SIMD")) SetNamed(wanted);
  }
  void Set(const Level& chosen) {
    level = chosen;
    table.Update(chosen.target);
  }
  // False, and nothing changed, where no such level was compiled or the machine lacks it.
  bool SetNamed(const std::string& name) {
    for (const Level& candidate : Levels()) {
      if (candidate.name != name) continue;
      Set(candidate);
      return true;
    }
    return false;
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

bool AmxActive() {
  return TheChoice().level.amx;
}

ScopedSimdLevel::ScopedSimdLevel(const std::string& name) : previous_(TheChoice().level.name) {
  [[maybe_unused]] const bool known = TheChoice().SetNamed(name);
  RESMEM_DCHECK(known);
}
ScopedSimdLevel::~ScopedSimdLevel() {
  TheChoice().SetNamed(previous_);
}

std::string SimdName() {
  return TheChoice().level.name;
}

std::vector<std::string> SimdNamesAvailable() {
  std::vector<std::string> names;
  for (const Level& level : Levels()) names.push_back(level.name);
  return names;
}

}  // namespace resmem
