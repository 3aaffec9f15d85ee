// fvecs, ivecs and bvecs, the formats of nearest-neighbor benchmarks: each row is its length
// as int32, then that many float32, int32 or uint8.
#ifndef RESMEM_DATA_FORMATS_VECS_H_
#define RESMEM_DATA_FORMATS_VECS_H_

#include <string>

#include "data/array_storage.h"

namespace resmem {

// Row 0's length is taken for all; each row's own is compared when it is read.
Result<FileContent> ReadVecs(const std::string& name, ElementType type, SharedBytes bytes);

}  // namespace resmem

#endif  // RESMEM_DATA_FORMATS_VECS_H_
