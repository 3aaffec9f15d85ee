// The files that are mapped now, so that a signal handler can tell which one an address is in.
#ifndef RESMEM_SUPPORT_FILES_MAPPED_REGIONS_H_
#define RESMEM_SUPPORT_FILES_MAPPED_REGIONS_H_

#include <cstddef>
#include <string>

#include "resmem/mapped_files.h"
#include "resmem/status.h"

namespace resmem {

// From now on these bytes are the file's.  Throws std::bad_alloc.
void AddMappedRegion(const std::byte* begin, size_t size, const std::string& path);
// Before they are unmapped.
void RemoveMappedRegion(const std::byte* begin);

// kCorrupt where a page of a file in this folder, mapped now, was lost.  Quick where none was in
// the whole process.
Status CheckNoPageLost(const std::string& folder);

}  // namespace resmem

#endif  // RESMEM_SUPPORT_FILES_MAPPED_REGIONS_H_
