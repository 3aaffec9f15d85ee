// Loaded before a program (LD_PRELOAD): kills it without warning before its N-th call that changes
// a file or a folder, N being in the environment variable KILL_AT.  With KILL_COUNT, a file, it
// writes there how many such calls there were; with TRACE, a file, a line for each file that is
// opened to be read, renamed ("rename NEW") or synced.
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

void Note(const char* call, const char* path) {
  static const int list = [] {
    const char* name = std::getenv("TRACE");
    return name == nullptr ? -1
                           : Next<int(const char*, int, ...)>("open")(
                                 name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  }();
  if (list >= 0) ::dprintf(list, "%s %s\n", call, path);
}

void NoteSync(int descriptor) {
  char link[64], path[4096];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t size = ::readlink(link, path, sizeof path - 1);
  path[size < 0 ? 0 : size] = '\0';
  Note("sync", path);
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
  Note("rename", to);
  return Next<int(const char*, const char*)>("rename")(from, to);
}

int fsync(int descriptor) {
  Count();
  NoteSync(descriptor);
  return Next<int(int)>("fsync")(descriptor);
}

int unlink(const char* path) noexcept {
  Count();
  return Next<int(const char*)>("unlink")(path);
}

int remove(const char* path) noexcept {
  Count();
  return Next<int(const char*)>("remove")(path);
}

int rmdir(const char* path) noexcept {
  Count();
  return Next<int(const char*)>("rmdir")(path);
}

int ftruncate(int descriptor, off_t size) noexcept {
  Count();
  return Next<int(int, off_t)>("ftruncate")(descriptor, size);
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
  } else {
    Note("open", path);
  }
  return Next<int(const char*, int, ...)>("open")(path, flags, mode);
}

}  // extern "C"
