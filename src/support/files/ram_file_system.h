// Files in this process's memory, for memories without a path on disk: the same checks and the same
// bytes as on disk (docs/decisions/memory_in_ram.md).
//
// A folder is "ram:N", reserved by NewRamFolder() and gone with RemoveRamFolder(); its files have
// no folders below them.  A file that is mapped stays as it was: writing to it then makes a copy.
// A child that was forked has a copy of everything.  Safe on any number of threads.
#ifndef RESMEM_SUPPORT_FILES_RAM_FILE_SYSTEM_H_
#define RESMEM_SUPPORT_FILES_RAM_FILE_SYSTEM_H_

#include <string>

#include "support/file_system.h"

namespace resmem {

FileSystem& RamFiles();
bool IsRamPath(const std::string& path);

// A path that no other folder has had in this process.  The folder is not there yet:
// MakeDirectory() makes it, and no other path that starts with "ram:".
std::string NewRamFolder();
// With its files; those that are mapped live until they are not.
void RemoveRamFolder(const std::string& path);

}  // namespace resmem

#endif  // RESMEM_SUPPORT_FILES_RAM_FILE_SYSTEM_H_
