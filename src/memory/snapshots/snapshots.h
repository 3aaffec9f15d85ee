// The changes of resmem/snapshots.h over any file system.
#ifndef RESMEM_MEMORY_SNAPSHOTS_SNAPSHOTS_H_
#define RESMEM_MEMORY_SNAPSHOTS_SNAPSHOTS_H_

#include <string>

#include "resmem/snapshots.h"
#include "support/file_system.h"

namespace resmem {

Status TakeSnapshot(FileSystem& files, const std::string& path, const std::string& name,
                    const SnapshotOptions& options = {});
Status DropSnapshot(FileSystem& files, const std::string& path, const std::string& name,
                    const ChangeOptions& options = {});
Status RollBack(FileSystem& files, const std::string& path, const std::string& name,
                const ChangeOptions& options = {});

}  // namespace resmem

#endif  // RESMEM_MEMORY_SNAPSHOTS_SNAPSHOTS_H_
