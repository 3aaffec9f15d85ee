#include "outputs/npy_stream.h"

#include <bit>
#include <utility>

namespace resmem::cli {

static_assert(std::endian::native == std::endian::little, "the header says '<f4'");

Result<NpyStream> NpyStream::Create(const std::string& path, int64_t rows, int64_t columns) {
  RESMEM_ASSIGN_OR_RETURN(Output output, Output::File(path));
  // Version 1.0: magic, header length, a Python dict padded so that the values are 64-aligned.
  std::string dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(rows) +
                     ", " + std::to_string(columns) + "), }";
  constexpr size_t kPrefixBytes = 10, kAlignment = 64;
  while ((kPrefixBytes + dict.size() + 1) % kAlignment != 0) dict += ' ';
  dict += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(dict.size() & 0xff);
  header += static_cast<char>(dict.size() >> 8);
  RESMEM_RETURN_IF_ERROR(output.Write(header + dict));
  return NpyStream(std::move(output));
}

Status NpyStream::Write(std::span<const float> values) {
  const std::span<const std::byte> bytes = std::as_bytes(values);
  return output_.Write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace resmem::cli
