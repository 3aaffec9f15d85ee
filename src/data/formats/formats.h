// Which reader a file belongs to.
#ifndef RESMEM_DATA_FORMATS_FORMATS_H_
#define RESMEM_DATA_FORMATS_FORMATS_H_

#include <string>

#include "data/array_storage.h"

namespace resmem {

// kUnsupported, with what to do, where the bytes are those of a Parquet file.
Status CheckNoParquet(const std::string& name, ByteSpan bytes);

// By magic bytes, then by the extension of `name`.  kUnsupported where neither is known.
Result<FileContent> ReadAnyFormat(const std::string& name, SharedBytes bytes);

Result<FileContent> ReadFile(const std::string& path);

// Bare values, of the shape and type given.
Result<FileContent> ReadRaw(const ArraySource& source);

}  // namespace resmem

#endif  // RESMEM_DATA_FORMATS_FORMATS_H_
