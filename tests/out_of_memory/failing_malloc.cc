// LD_PRELOAD=libfailing_malloc.so: allocations, of which one fails, or all from one on.
//
//   FAIL_AT=N         the N-th, from 0, gives no memory; without it none fails
//   FAIL_ONWARD=1     nor do those after it
//   PATHS_FILE=PATH   gets 8 bytes for each allocation as the process ends: where it came from, a
//                     number for the functions that had called each other to get there
//
// A crash inside ONNX Runtime, of which we have no source to mend, ends with exit code 97.
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>

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

// Whose code it was: the first return address on the stack that lies in ONNX Runtime or in the
// program decides.
void OnCrash(int number, siginfo_t*, void* context) {
#ifdef __x86_64__
  const auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const auto* stack = reinterpret_cast<void* const*>(registers[REG_RSP]);
  Dl_info found;
  for (int i = -1; i < 200; ++i) {
    void* const place = i < 0 ? reinterpret_cast<void*>(registers[REG_RIP]) : stack[i];
    if (dladdr(place, &found) == 0 || found.dli_fname == nullptr) continue;
    if (strstr(found.dli_fname, "libonnxruntime") != nullptr) _exit(97);
    if (strstr(found.dli_fname, ".so") == nullptr) break;  // the program
  }
#endif
  static_cast<void>(context);
  signal(number, SIG_DFL);
}

[[gnu::constructor(101)]] void ReadEnvironment() {
  if (const char* text = getenv("FAIL_AT")) fail_at = atol(text);
  onward = getenv("FAIL_ONWARD") != nullptr;
  noting = getenv("PATHS_FILE") != nullptr;
  struct sigaction action = {};
  action.sa_sigaction = OnCrash;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);
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
