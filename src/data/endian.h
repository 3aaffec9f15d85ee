// Numbers out of unaligned bytes, in either order.
#ifndef RESMEM_DATA_ENDIAN_H_
#define RESMEM_DATA_ENDIAN_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

namespace resmem {

static_assert(std::endian::native == std::endian::little, "files are read as little-endian");

template <typename T, bool kSwapped = false>
T Load(const std::byte* source) {
  std::array<std::byte, sizeof(T)> bytes;
  std::memcpy(bytes.data(), source, sizeof(T));
  if constexpr (kSwapped) std::reverse(bytes.begin(), bytes.end());
  return std::bit_cast<T>(bytes);
}

}  // namespace resmem

#endif  // RESMEM_DATA_ENDIAN_H_
