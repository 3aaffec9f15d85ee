// LD_PRELOAD=libfailing_calls.so: system calls that fail.
//
//   FAIL_CALLS=A,B   the kinds that are counted: mmap thread fork write sync rename read open
//   change FAIL_AT=N        the N-th of them, from 0, fails; without it none FAIL_ONWARD=1    so do
//   all after it FAIL_AGAIN=K     or the K-th after it, from 1, of any kind: while the first is
//   handled FAIL_ERRNO=E     with this error (default EIO) COUNT_FILE=PATH  gets the number of
//   those that were counted as the process ends
//
// Standard input, output and error are left alone: what they say is how a failure is judged.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

std::atomic<long> counted{0};
std::atomic<long> after_first{-1};  // calls of any kind since the first failure

long Number(const char* name, long without) {
  const char* text = std::getenv(name);
  return text == nullptr ? without : std::atol(text);
}

bool IsCounted(const char* kind) {
  static const char* kinds = std::getenv("FAIL_CALLS");
  if (kinds == nullptr) return false;
  return std::string(",").append(kinds).append(",").find(std::string(",").append(kind) + ",") !=
         std::string::npos;
}

// True, with errno set, where this call must fail.
bool Fails(const char* kind) {
  static const long at = Number("FAIL_AT", -1), onward = Number("FAIL_ONWARD", 0);
  static const long again = Number("FAIL_AGAIN", 0), error = Number("FAIL_ERRNO", EIO);
  const bool second = after_first >= 0 && ++after_first == again;
  const long call = IsCounted(kind) ? counted++ : -1;
  const bool first = at >= 0 && (call == at || (onward != 0 && call > at));
  if (first && after_first < 0) after_first = 0;
  if (first || second) errno = static_cast<int>(error);
  return first || second;
}

template <typename Function>
Function* Next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

struct AtEnd {
  ~AtEnd() {
    const char* path = std::getenv("COUNT_FILE");
    if (path == nullptr) return;
    if (std::FILE* file = std::fopen(path, "w")) {
      std::fprintf(file, "%ld\n", counted.load());
      std::fclose(file);
    }
  }
} at_end;

}  // namespace

extern "C" {

void* mmap(void* at, size_t size, int protection, int flags, int descriptor,
           off_t offset) noexcept {
  if (Fails("mmap")) return MAP_FAILED;
  return Next<decltype(mmap)>("mmap")(at, size, protection, flags, descriptor, offset);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* how, void* (*start)(void*),
                   void* argument) noexcept {
  if (Fails("thread")) return EAGAIN;
  return Next<decltype(pthread_create)>("pthread_create")(thread, how, start, argument);
}

pid_t fork() noexcept {
  return Fails("fork") ? -1 : Next<decltype(fork)>("fork")();
}

int posix_spawn(pid_t* child, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* how, char* const words[], char* const variables[]) {
  if (Fails("fork")) return errno;
  return Next<decltype(posix_spawn)>("posix_spawn")(child, path, actions, how, words, variables);
}

int posix_spawnp(pid_t* child, const char* path, const posix_spawn_file_actions_t* actions,
                 const posix_spawnattr_t* how, char* const words[], char* const variables[]) {
  if (Fails("fork")) return errno;
  return Next<decltype(posix_spawnp)>("posix_spawnp")(child, path, actions, how, words, variables);
}

ssize_t write(int descriptor, const void* bytes, size_t size) {
  if (descriptor > STDERR_FILENO && Fails("write")) return -1;
  return Next<decltype(write)>("write")(descriptor, bytes, size);
}

ssize_t writev(int descriptor, const iovec* parts, int count) {
  if (descriptor > STDERR_FILENO && Fails("write")) return -1;
  return Next<decltype(writev)>("writev")(descriptor, parts, count);
}

ssize_t pwrite(int descriptor, const void* bytes, size_t size, off_t offset) {
  if (Fails("write")) return -1;
  return Next<decltype(pwrite)>("pwrite")(descriptor, bytes, size, offset);
}

int ftruncate(int descriptor, off_t size) noexcept {
  return Fails("write") ? -1 : Next<decltype(ftruncate)>("ftruncate")(descriptor, size);
}

int fsync(int descriptor) {
  return Fails("sync") ? -1 : Next<decltype(fsync)>("fsync")(descriptor);
}

int rename(const char* from, const char* to) noexcept {
  return Fails("rename") ? -1 : Next<decltype(rename)>("rename")(from, to);
}

ssize_t read(int descriptor, void* bytes, size_t size) {
  if (descriptor > STDERR_FILENO && Fails("read")) return -1;
  return Next<decltype(read)>("read")(descriptor, bytes, size);
}

ssize_t pread(int descriptor, void* bytes, size_t size, off_t offset) {
  if (Fails("read")) return -1;
  return Next<decltype(pread)>("pread")(descriptor, bytes, size, offset);
}

int open(const char* path, int flags, ...) {
  mode_t mode = 0;
  if ((flags & O_CREAT) != 0) {
    std::va_list more;
    va_start(more, flags);
    mode = static_cast<mode_t>(va_arg(more, int));
    va_end(more);
  }
  if (Fails("open")) return -1;
  return Next<decltype(open)>("open")(path, flags, mode);
}

int unlink(const char* path) noexcept {
  return Fails("change") ? -1 : Next<decltype(unlink)>("unlink")(path);
}

int remove(const char* path) noexcept {
  return Fails("change") ? -1 : Next<decltype(remove)>("remove")(path);
}

int mkdir(const char* path, mode_t mode) noexcept {
  return Fails("change") ? -1 : Next<decltype(mkdir)>("mkdir")(path, mode);
}

int link(const char* from, const char* to) noexcept {
  return Fails("change") ? -1 : Next<decltype(link)>("link")(from, to);
}

int flock(int descriptor, int what) noexcept {
  return Fails("change") ? -1 : Next<decltype(flock)>("flock")(descriptor, what);
}

}  // extern "C"
