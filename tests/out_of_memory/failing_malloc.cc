// LD_PRELOAD=libfailing_malloc.so: allocations, of which one fails, or all from one on.
//
//   FAIL_AT=N         the N-th, from 0, gives no memory; without it none fails
//   FAIL_ONWARD=1     nor do those after it
//   COUNT_FILE=PATH   gets the number of allocations as the process ends
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>

namespace {

std::atomic<long> calls = 0;
long fail_at = -1;
bool onward = false;

bool Fails() {
  const long call = calls++;
  if (fail_at < 0 || (onward ? call < fail_at : call != fail_at)) return false;
  errno = ENOMEM;
  return true;
}

[[gnu::constructor(101)]] void ReadEnvironment() {
  if (const char* text = getenv("FAIL_AT")) fail_at = atol(text);
  onward = getenv("FAIL_ONWARD") != nullptr;
  calls = 0;
}

[[gnu::destructor]] void WriteCount() {
  const char* path = getenv("COUNT_FILE");
  const int file = path == nullptr ? -1 : open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0) return;
  char text[32];
  const int size = snprintf(text, sizeof text, "%ld", calls.load());
  if (write(file, text, static_cast<size_t>(size)) != size) _exit(99);
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
