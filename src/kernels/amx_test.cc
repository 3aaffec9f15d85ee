#include "kernels/amx.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "kernels/simd_level.h"
#include "resmem_program/simd.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace resmem {
namespace {

TEST(Amx, IsALevelWhereTheMachineHasTilesAndOffAtAllOthers) {
  const std::vector<std::string> names = SimdNamesAvailable();
  EXPECT_EQ(std::count(names.begin(), names.end(), "amx"), AmxAvailable() ? 1 : 0);
  for (const std::string& name : names) {
    const ScopedSimdLevel level(name);
    EXPECT_EQ(AmxActive(), name == "amx");
  }
}

#if defined(__x86_64__)
TEST(Amx, TilesMultiplyInsideTheirScope) {
  if (!AmxAvailable()) return;  // no tiles: the level is not offered, as the test above says
  uint16_t a[16][32] = {}, b[16][32] = {};
  for (int i = 0; i < 16; ++i) a[i][2 * i] = 0x4000;  // 2 times the identity, of even inner rows
  for (int i = 0; i < 16; ++i) b[i][2 * 5] = 0x4040;  // column 5 is 3
  float c[16][16] = {};
  const TileScope tiles;
  _tile_zero(0);
  _tile_loadd(1, a, 64);
  _tile_loadd(2, b, 64);
  _tile_dpbf16ps(0, 1, 2);
  _tile_stored(0, c, 64);
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 16; ++j) EXPECT_EQ(c[i][j], j == 5 ? 6.0f : 0.0f) << i << ", " << j;
  }
}
#endif

}  // namespace
}  // namespace resmem
