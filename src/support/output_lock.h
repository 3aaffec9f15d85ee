// One writer at a time for an output that takes long to make.
#ifndef RESMEM_SUPPORT_OUTPUT_LOCK_H_
#define RESMEM_SUPPORT_OUTPUT_LOCK_H_

#include <memory>
#include <string>

#include "support/file_system.h"
#include "support/text.h"

namespace resmem {

// Held while `path` is made; the lock is the file `path`.lock, which goes with it or with the
// process.  kResourceExhausted where another process holds it, who is "`doing`".
inline Result<std::unique_ptr<FileLock>> LockOutput(FileSystem& files, const std::string& path,
                                                    const char* doing) {
  auto lock = files.Lock(path + ".lock");
  if (lock.status().code() != ErrorCode::kResourceExhausted) return lock;
  return Status(ErrorCode::kResourceExhausted,
                Text(path, ": another process is ", doing,
                     "; wait until it has finished, or name another output"));
}

}  // namespace resmem

#endif  // RESMEM_SUPPORT_OUTPUT_LOCK_H_
