// The content of a file from front to back, unpacked where it is compressed.
#ifndef RESMEM_TEXT_SOURCE_BYTE_STREAM_H_
#define RESMEM_TEXT_SOURCE_BYTE_STREAM_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "resmem/status.h"
#include "support/file_system.h"

namespace resmem {

class ByteStream {
 public:
  virtual ~ByteStream() = default;
  // Fills the front of `out` and gives the number of bytes; 0 only at the end.
  virtual Result<size_t> Read(std::span<char> out) = 0;
  // Bytes of the file that are used up.
  virtual int64_t stored_bytes_read() const = 0;
};

// gzip, zstd and xz are known by their first bytes; several streams in one file are joined.
Result<std::unique_ptr<ByteStream>> OpenByteStream(FileSystem& files, const std::string& path);
// The same for bytes in memory, which outlive the stream.
Result<std::unique_ptr<ByteStream>> UnpackBytes(const std::string& name,
                                                std::span<const std::byte> bytes);

}  // namespace resmem

#endif  // RESMEM_TEXT_SOURCE_BYTE_STREAM_H_
