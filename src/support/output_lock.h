// One writer at a time for an output that takes long to make.
#ifndef RESMEM_SUPPORT_OUTPUT_LOCK_H_
#define RESMEM_SUPPORT_OUTPUT_LOCK_H_

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "resmem/progress.h"
#include "support/file_system.h"
#include "support/text.h"

namespace resmem {

// For another process that holds a lock.
struct LockWait {
  double seconds = 0;
  Progress* progress = nullptr;  // may cancel the waiting
};

// Asks again in growing pauses while another process holds it.
inline Result<std::unique_ptr<FileLock>> WaitForLock(FileSystem& files, const std::string& path,
                                                     const LockWait& options) {
  using Clock = std::chrono::steady_clock;
  const std::chrono::duration<double> wait(std::clamp(options.seconds, 0.0, 1e9));
  const Clock::time_point start = Clock::now();
  std::chrono::duration<double> pause(0.001);
  while (true) {
    auto lock = files.Lock(path);
    if (lock.status().code() != ErrorCode::kResourceExhausted) return lock;
    const std::chrono::duration<double> rest = wait - (Clock::now() - start);
    if (rest.count() <= 0) {
      return Status(
          lock.status().code(),
          Text(lock.status().message(), wait.count() > 0 ? Text(" (waited ", wait.count(), " s)")
                                                         : ", or wait for it (--wait SECONDS)"));
    }
    if (options.progress != nullptr && options.progress->Cancelled()) {
      return Status(ErrorCode::kCancelled, Text(path, ": stopped while waiting for it"));
    }
    std::this_thread::sleep_for(std::min(pause, rest));
    pause = std::min(2 * pause, std::chrono::duration<double>(0.05));
  }
}

// Held while `path` is made; the lock is the file `path`.lock, which goes with it or with the
// process.  kResourceExhausted where another process holds it, who is "`doing`".
inline Result<std::unique_ptr<FileLock>> LockOutput(FileSystem& files, const std::string& path,
                                                    const char* doing, const LockWait& wait = {}) {
  auto lock = WaitForLock(files, path + ".lock", wait);
  if (lock.status().code() != ErrorCode::kResourceExhausted) return lock;
  return Status(ErrorCode::kResourceExhausted,
                Text(path, ": another process is ", doing,
                     "; wait until it has finished, or name another output"));
}

}  // namespace resmem

#endif  // RESMEM_SUPPORT_OUTPUT_LOCK_H_
