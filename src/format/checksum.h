// XXH3, with seed 0 as docs/memory_format.md says.
#ifndef RESMEM_FORMAT_CHECKSUM_H_
#define RESMEM_FORMAT_CHECKSUM_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace resmem {

uint64_t Hash64(std::span<const std::byte> bytes);

// XXH3-128 as 32 hexadecimal digits.
std::string Digest(std::span<const std::byte> bytes);

// 16 lower-case hexadecimal digits, most significant first.
std::string HexOfHash(uint64_t hash);

}  // namespace resmem

#endif  // RESMEM_FORMAT_CHECKSUM_H_
