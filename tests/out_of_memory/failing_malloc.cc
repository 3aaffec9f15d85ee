// LD_PRELOAD=libfailing_malloc.so: allocations, of which one fails, or all from one on.
//
//   FAIL_AT=N         the N-th, from 0, gives no memory; without it none fails
//   FAIL_ONWARD=1     nor do those after it
//   PATHS_FILE=PATH   gets 8 bytes for each allocation as the process ends: where it came from, a
//                     number for the functions that had called each other to get there
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace {

std::atomic<long> calls = 0;
long fail_at = -1;
bool onward = false;

// Of the allocations; there is no room for more, and what is not noted is zero.
constexpr long kMostNoted = 1 << 20;
uint64_t paths[kMostNoted];
bool noting = false;
thread_local bool inside = false;  // backtrace() allocates when it is first called

void NotePath(long call) {
  if (!noting || inside || call >= kMostNoted) return;
  inside = true;
  void* frames[64];
  const int depth = backtrace(frames, 64);
  uint64_t path = 1469598103934665603;
  for (int i = 0; i < depth; ++i)
    path = (path ^ reinterpret_cast<uintptr_t>(frames[i])) * 1099511628211;
  paths[call] = path;
  inside = false;
}

bool Fails() {
  if (inside) return false;
  const long call = calls++;
  NotePath(call);
  if (fail_at < 0 || (onward ? call < fail_at : call != fail_at)) return false;
  errno = ENOMEM;
  return true;
}

[[gnu::constructor(101)]] void ReadEnvironment() {
  if (const char* text = getenv("FAIL_AT")) fail_at = atol(text);
  onward = getenv("FAIL_ONWARD") != nullptr;
  noting = getenv("PATHS_FILE") != nullptr;
  calls = 0;
}

[[gnu::destructor]] void WritePaths() {
  const char* name = getenv("PATHS_FILE");
  const int file = name == nullptr ? -1 : open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0) return;
  const auto size = static_cast<ssize_t>(calls * sizeof paths[0]);
  if (calls > kMostNoted || write(file, paths, static_cast<size_t>(size)) != size) _exit(99);
  close(file);
}

}  // namespace

extern "C" {

// glibc's own, by the names that it keeps for this.
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* old, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

void* malloc(size_t size) {
  return Fails() ? nullptr : __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  return Fails() ? nullptr : __libc_calloc(count, size);
}
void* realloc(void* old, size_t size) {
  return Fails() ? nullptr : __libc_realloc(old, size);
}
void* memalign(size_t alignment, size_t size) {
  return Fails() ? nullptr : __libc_memalign(alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  return Fails() ? nullptr : __libc_memalign(alignment, size);
}
int posix_memalign(void** out, size_t alignment, size_t size) {
  if (Fails()) return ENOMEM;
  *out = __libc_memalign(alignment, size);
  return *out == nullptr ? ENOMEM : 0;
}

}  // extern "C"
