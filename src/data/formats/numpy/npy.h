// NumPy's .npy: magic, version, a Python dictionary with type, order and shape, the values.
// Versions 1 to 3.  Objects (pickles) are never read: loading one can run code.
#ifndef RESMEM_DATA_FORMATS_NUMPY_NPY_H_
#define RESMEM_DATA_FORMATS_NUMPY_NPY_H_

#include <string>

#include "data/array_storage.h"

namespace resmem {

inline constexpr std::string_view kNpyMagic = "\x93NUMPY";

// Headers longer than this are refused; NumPy's own limit is 10,000 bytes.
inline constexpr int64_t kMaxNpyHeader = 64 << 10;
// Enough of a file for ParseNpy(): magic, version and length before the header.
inline constexpr int64_t kMaxNpyPrefix = kMaxNpyHeader + 12;

// The layout of a file of `size` bytes that begins with `prefix`: all of it, or its first
// kMaxNpyPrefix bytes.  Errors: kBadData, kUnsupported.
Result<Layout> ParseNpy(const std::string& name, ByteSpan prefix, int64_t size);

// "<f4"; not for text.
std::string NumpyType(ElementType type);
// The header that NumPy itself would write, version 1.  `descriptor`: "<f4".
std::string NpyHeader(std::string_view descriptor, std::span<const int64_t> shape);

Result<FileContent> ReadNpy(const std::string& name, SharedBytes bytes);

}  // namespace resmem

#endif  // RESMEM_DATA_FORMATS_NUMPY_NPY_H_
