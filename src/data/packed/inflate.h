// Deflate streams of files that may lie about their size.
#ifndef RESMEM_DATA_PACKED_INFLATE_H_
#define RESMEM_DATA_PACKED_INFLATE_H_

#include <string>
#include <vector>

#include "data/file_bytes.h"
#include "resmem/status.h"

namespace resmem {

enum class Wrapper { kNone, kGzip };  // gzip: its own checksums are checked, members joined

// The first `limit` bytes, fewer where the stream ends before.
Result<std::vector<std::byte>> InflatePrefix(const std::string& name, ByteSpan compressed,
                                             Wrapper wrapper, size_t limit);

// Exactly `size` bytes, which a header declared: kBadData where the stream holds more or fewer,
// or where deflate could not hold that much in so few bytes.  Memory is taken from the system
// only as the bytes are made.
Result<SharedBytes> Inflate(const std::string& name, ByteSpan compressed, Wrapper wrapper,
                            int64_t size);

}  // namespace resmem

#endif  // RESMEM_DATA_PACKED_INFLATE_H_
