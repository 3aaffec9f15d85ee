// Loaded before a program (LD_PRELOAD): kills it without warning before its N-th call that changes
// a file or a folder, N being in the environment variable KILL_AT.  With KILL_COUNT, a file, it
// writes there how many such calls there were.
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace {

std::atomic<long> calls{0};

void Count() {
  static const long kill_at = [] {
    const char* text = std::getenv("KILL_AT");
    return text == nullptr ? 0L : std::atol(text);
  }();
  if (++calls == kill_at) {
    ::kill(::getpid(), SIGKILL);
    ::pause();
  }
}

template <typename Function>
Function* Next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

struct AtEnd {
  ~AtEnd() {
    const char* path = std::getenv("KILL_COUNT");
    if (path == nullptr) return;
    if (std::FILE* file = std::fopen(path, "w")) {
      std::fprintf(file, "%ld\n", calls.load());
      std::fclose(file);
    }
  }
} at_end;

}  // namespace

extern "C" {

int rename(const char* from, const char* to) {
  Count();
  return Next<int(const char*, const char*)>("rename")(from, to);
}

int fsync(int descriptor) {
  Count();
  return Next<int(int)>("fsync")(descriptor);
}

int unlink(const char* path) noexcept {
  Count();
  return Next<int(const char*)>("unlink")(path);
}

int mkdir(const char* path, mode_t mode) noexcept {
  Count();
  return Next<int(const char*, mode_t)>("mkdir")(path, mode);
}

ssize_t pwrite(int descriptor, const void* bytes, size_t size, off_t offset) {
  Count();
  return Next<ssize_t(int, const void*, size_t, off_t)>("pwrite")(descriptor, bytes, size, offset);
}

int open(const char* path, int flags, ...) {
  mode_t mode = 0;
  if ((flags & O_CREAT) != 0) {
    std::va_list more;
    va_start(more, flags);
    mode = static_cast<mode_t>(va_arg(more, int));
    va_end(more);
    Count();
  }
  return Next<int(const char*, int, ...)>("open")(path, flags, mode);
}

}  // extern "C"
