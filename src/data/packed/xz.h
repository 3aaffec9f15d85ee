// Files compressed by xz.
#ifndef RESMEM_DATA_PACKED_XZ_H_
#define RESMEM_DATA_PACKED_XZ_H_

#include <string>

#include "data/file_bytes.h"
#include "resmem/status.h"

namespace resmem {

bool LooksLikeXz(ByteSpan bytes);

// The whole content.  The file's index, which stands at its end, declares the size; more than
// kMaxUnpacked is kUnsupported, and content that differs from the index or from its checksums is
// kBadData.
inline constexpr int64_t kMaxUnpacked = int64_t{4} << 30;
Result<SharedBytes> UnpackXz(const std::string& name, ByteSpan compressed);

}  // namespace resmem

#endif  // RESMEM_DATA_PACKED_XZ_H_
