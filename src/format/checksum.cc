#include "format/checksum.h"

#include <xxhash.h>

namespace resmem {

uint64_t Hash64(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::string Digest(std::span<const std::byte> bytes) {
  const XXH128_hash_t digest = XXH3_128bits(bytes.data(), bytes.size());
  return HexOfHash(digest.high64) + HexOfHash(digest.low64);
}

std::string HexOfHash(uint64_t hash) {
  std::string digits(16, '0');
  for (size_t i = 0; i < digits.size(); ++i) {
    digits[i] = "0123456789abcdef"[(hash >> (60 - 4 * i)) & 15];
  }
  return digits;
}

}  // namespace resmem
