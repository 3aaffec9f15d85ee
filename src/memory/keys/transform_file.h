// The file of a whitening matrix: docs/memory_format.md, section 11.
#ifndef RESMEM_MEMORY_KEYS_TRANSFORM_FILE_H_
#define RESMEM_MEMORY_KEYS_TRANSFORM_FILE_H_

#include <span>
#include <string>

#include "memory/keys/key_transformer.h"
#include "memory/manifest/manifest.h"
#include "support/file_system.h"

namespace resmem {

// matrix: dim x dim.
Result<FileRecord> WriteTransform(FileSystem& files, const std::string& folder,
                                  const std::string& name, std::span<const float> matrix,
                                  int64_t dim);

// Of the memory that the manifest tells of.  Every byte is checked.
Result<KeyTransformer> LoadTransformer(FileSystem& files, const std::string& folder,
                                       const Manifest& manifest);

}  // namespace resmem

#endif  // RESMEM_MEMORY_KEYS_TRANSFORM_FILE_H_
