// A file that the manifest records.
#ifndef RESMEM_MEMORY_MANIFEST_RECORDED_FILE_H_
#define RESMEM_MEMORY_MANIFEST_RECORDED_FILE_H_

#include <string>

#include "format/container_reader.h"
#include "memory/manifest/manifest.h"

namespace resmem {

// Opens it.  kCorrupt where its size or header is not what the manifest says: then it belongs to
// another change of the memory, or was replaced.
Result<ContainerReader> OpenRecordedFile(FileSystem& files, const std::string& folder,
                                         const FileRecord& record, FileKind kind);

}  // namespace resmem

#endif  // RESMEM_MEMORY_MANIFEST_RECORDED_FILE_H_
