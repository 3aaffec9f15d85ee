// IDX, the format of MNIST: two zero bytes, a type, the number of dimensions, each size as a
// big-endian int32, the values (big-endian).
#ifndef RESMEM_DATA_FORMATS_IDX_H_
#define RESMEM_DATA_FORMATS_IDX_H_

#include <string>

#include "data/array_storage.h"

namespace resmem {

inline constexpr size_t kMaxIdxHeader = 4 + 4 * 255;

bool LooksLikeIdx(ByteSpan bytes);

// The number of bytes that the header claims for the whole file; `prefix` holds the header.
Result<int64_t> IdxFileSize(const std::string& name, ByteSpan prefix);

Result<FileContent> ReadIdx(const std::string& name, SharedBytes bytes);

}  // namespace resmem

#endif  // RESMEM_DATA_FORMATS_IDX_H_
