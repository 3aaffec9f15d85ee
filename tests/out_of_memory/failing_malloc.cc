// LD_PRELOAD=libfailing_malloc.so: allocations, of which one fails, or all from one on.
//
//   FAIL_AT=N         the N-th, from 0, gives no memory; without it none fails
//   FAIL_ONWARD=1     nor do those after it
//   FORK_FDS=IN,OUT   at each allocation that the file FORK_POINTS names, as rising 8-byte numbers,
//                     two children go on: one without this one, one without all from here on;
//                     see forked.py
//   PATHS_FILE=PATH   gets 8 bytes for each allocation as the process ends: where it came from, a
//                     number for the functions that had called each other to get there
//
// A crash inside ONNX Runtime, of which we have no source to mend, ends with exit code 97.
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
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

int fork_in = -1, fork_out = -1;
// Of the rising list of allocations, what is left of it.
const int64_t* fork_point = nullptr;
const int64_t* fork_end = nullptr;

// What forked.py reads: before a child is made, with kNoChild, and after its end.
struct Report {
  int64_t call, onward, status;
};
constexpr int64_t kNoChild = -1;

void TellAndWait(const Report& report) {
  char answer = 0;
  if (write(fork_out, &report, sizeof report) != sizeof report || read(fork_in, &answer, 1) != 1) {
    _exit(98);
  }
}

// Returns in this process after both children have ended, and in each child.
void Fork(long call) {
  for (const bool all : {false, true}) {
    TellAndWait({call, all, kNoChild});
    const pid_t child = fork();
    if (child < 0) _exit(98);
    if (child == 0) {
      fork_in = -1;
      fail_at = call;
      onward = all;
      return;
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    TellAndWait({call, all, status});
  }
}

bool Fails() {
  if (inside) return false;
  const long call = calls++;
  NotePath(call);
  if (fork_in >= 0 && fork_point != fork_end && call == *fork_point) {
    ++fork_point;
    inside = true;
    Fork(call);
    inside = false;
  }
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

void ReadPoints(const char* descriptors, const char* name) {
  const int file = open(name, O_RDONLY);
  struct stat info;
  if (sscanf(descriptors, "%d,%d", &fork_in, &fork_out) != 2 || fstat(file, &info) != 0) _exit(98);
  void* const points =
      mmap(nullptr, static_cast<size_t>(info.st_size), PROT_READ, MAP_PRIVATE, file, 0);
  if (points == MAP_FAILED) _exit(98);
  close(file);
  fork_point = static_cast<const int64_t*>(points);
  fork_end = fork_point + info.st_size / static_cast<off_t>(sizeof(int64_t));
}

[[gnu::constructor(101)]] void ReadEnvironment() {
  if (const char* text = getenv("FAIL_AT")) fail_at = atol(text);
  onward = getenv("FAIL_ONWARD") != nullptr;
  noting = getenv("PATHS_FILE") != nullptr;
  if (const char* text = getenv("FORK_FDS")) ReadPoints(text, getenv("FORK_POINTS"));
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
