// Numbers of 16 bits with the exponent of a float: stored as the float's upper half.
#ifndef RESMEM_LAB_TRAIN_BFLOAT16_H_
#define RESMEM_LAB_TRAIN_BFLOAT16_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace resmem::train {

using Bfloat16 = uint16_t;

// To the nearest, ties to even.  Not for NaN.
inline Bfloat16 ToBfloat16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  return static_cast<Bfloat16>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
inline float ToFloat(Bfloat16 value) {
  return std::bit_cast<float>(static_cast<uint32_t>(value) << 16);
}

// A row of a tile is a line of the cache: one that straddles two lines is loaded twice.
template <typename T>
struct LineAllocator {
  using value_type = T;
  static constexpr std::align_val_t kLine{64};
  LineAllocator() = default;
  template <typename Other>
  LineAllocator(const LineAllocator<Other>&) {}  // NOLINT: as allocators must
  T* allocate(size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), kLine)); }
  void deallocate(T* values, size_t) { ::operator delete(values, kLine); }
  bool operator==(const LineAllocator&) const = default;
};

using TileBuffer = std::vector<Bfloat16, LineAllocator<Bfloat16>>;  // zeros at first

}  // namespace resmem::train

#endif  // RESMEM_LAB_TRAIN_BFLOAT16_H_
