#include "kernels/simd_level.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "resmem_program/simd.h"

namespace resmem {
namespace {

TEST(SimdLevel, ChosenLevelIsTheBestOrTheOneThatTheEnvironmentNames) {
  const std::vector<std::string> names = SimdNamesAvailable();
  ASSERT_FALSE(names.empty());
  const char* wanted = std::getenv("RESMEM_SIMD");
  const bool known = wanted && std::find(names.begin(), names.end(), wanted) != names.end();
  EXPECT_EQ(SimdName(), known ? wanted : names.front());
}

TEST(SimdLevel, EveryAvailableLevelCanBeForcedAndIsTakenBack) {
  const std::string before = SimdName();
  for (const std::string& name : SimdNamesAvailable()) {
    const ScopedSimdLevel level(name);
    EXPECT_EQ(SimdName(), name);
  }
  EXPECT_EQ(SimdName(), before);
}

}  // namespace
}  // namespace resmem
