// Where a memory's snapshots lie: docs/memory_format.md, section 12.
#ifndef RESMEM_MEMORY_MANIFEST_SNAPSHOT_FOLDER_H_
#define RESMEM_MEMORY_MANIFEST_SNAPSHOT_FOLDER_H_

#include <string>
#include <string_view>

#include "support/file_system.h"

namespace resmem {

// 1 to 64 of a-z A-Z 0-9 . _ -, of which the first is none of the last three, and no ".tmp" at the
// end: kInvalidArgument with the name.
Status CheckSnapshotName(std::string_view name);

// "m.resmem/snapshots"
std::string SnapshotsFolder(const std::string& memory);
// A snapshot that is being made or removed: nobody reads it, and the next change removes it.
std::string UnfinishedSnapshot(const std::string& memory, const std::string& name);

// A folder of files, with them.
Status RemoveFolder(FileSystem& files, const std::string& folder);
// Best effort, under the memory's lock: the next change tries again.
void RemoveUnfinishedSnapshots(FileSystem& files, const std::string& memory) noexcept;

}  // namespace resmem

#endif  // RESMEM_MEMORY_MANIFEST_SNAPSHOT_FOLDER_H_
