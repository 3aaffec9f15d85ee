#include "kernels/amx.h"

#include <cstdint>

#include "support/check.h"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace resmem {

#if defined(__x86_64__) && defined(__linux__)
namespace {

bool ProcessorHasTiles() {
  // Leaf 0x1D, which describes the tiles, is hidden by some virtual machines; palette 1, the only
  // one there is, needs no description.
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
  constexpr unsigned kBfloat16 = 1u << 22, kTiles = 1u << 24;
  if ((d & kBfloat16) == 0 || (d & kTiles) == 0) return false;
  // Kernels round to bfloat16 for the tiles.
  if (__builtin_cpu_supports("avx512bf16") == 0) return false;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_OSXSAVE) == 0) return false;
  unsigned low = 0, high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  constexpr unsigned kTileState = (1u << 17) | (1u << 18);
  return (low & kTileState) == kTileState;
}

// The kernel reserves room for the tiles' contents only for programs that ask for it.
bool KernelGivesTiles() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

struct alignas(64) TileShapes {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t bytes_per_row[16] = {};
  uint8_t rows[16] = {};
};

}  // namespace

bool AmxAvailable() {
  static const bool available = ProcessorHasTiles() && KernelGivesTiles();
  return available;
}

TileScope::TileScope() {
  RESMEM_DCHECK(AmxAvailable());
  TileShapes shapes;
  for (int tile = 0; tile < 8; ++tile) {
    shapes.bytes_per_row[tile] = 64;
    shapes.rows[tile] = 16;
  }
  // Not _tile_loadconfig(): g++ 12 may drop the stores to `shapes` before it.
  __asm__ volatile("ldtilecfg %0" ::"m"(shapes) : "memory");
}
TileScope::~TileScope() {
  __asm__ volatile("tilerelease" ::: "memory");
}

#else

bool AmxAvailable() {
  return false;
}
TileScope::TileScope() {
  RESMEM_DCHECK(false);
}
TileScope::~TileScope() = default;

#endif

}  // namespace resmem
