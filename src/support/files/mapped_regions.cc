#include "support/files/mapped_regions.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <mutex>

#include "support/text.h"

namespace resmem {
namespace {

// A node stays in the list for ever, since a handler may be walking over it, and is used again for
// another region.
struct Region {
  std::atomic<uintptr_t> begin = 0;  // 0: unused
  std::atomic<uintptr_t> end = 0;    // of its last page
  std::atomic<bool> lost = false;
  std::string path;
  Region* next = nullptr;
  Region* next_unused = nullptr;
};

std::atomic<Region*> all = nullptr;
std::atomic<int64_t> lost_pages = 0;
std::atomic<PageLost> tell = nullptr;
constinit std::mutex mutex;  // of what is not atomic
Region* unused = nullptr;
struct sigaction before;
bool installed = false;
uintptr_t page_bytes = 4096;

Region* RegionOf(uintptr_t address) {
  for (Region* region = all.load(); region != nullptr; region = region->next) {
    const uintptr_t begin = region->begin.load();
    if (begin != 0 && address >= begin && address < region->end.load()) return region;
  }
  return nullptr;
}

// As if we were not here.
void AskTheOneBefore(int signal, siginfo_t* info, void* context) {
  if ((before.sa_flags & SA_SIGINFO) != 0) return before.sa_sigaction(signal, info, context);
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    return before.sa_handler(signal);
  }
  ::sigaction(SIGBUS, &before, nullptr);
  // Where the kernel sent it, the address is read again as we return.
  if (info->si_code <= 0) ::raise(signal);
}

void OnBusError(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  const bool by_kernel = info->si_code > 0;
  const uintptr_t address = by_kernel ? reinterpret_cast<uintptr_t>(info->si_addr) : 0;
  if (Region* const region = RegionOf(address); region != nullptr) {
    if (const PageLost lost = tell.load()) lost(region->path.c_str());
    // Known before any thread can read a zero.
    region->lost = true;
    ++lost_pages;
    const uintptr_t page = address / page_bytes * page_bytes;
    void* const zeros = ::mmap(reinterpret_cast<void*>(page), region->end.load() - page, PROT_READ,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    if (zeros != MAP_FAILED) {
      errno = error;
      return;
    }
  }
  AskTheOneBefore(signal, info, context);
  errno = error;
}

}  // namespace

void GuardMappedFiles(PageLost lost) {
  const std::lock_guard<std::mutex> lock(mutex);
  tell = lost;
  if (installed) return;
  page_bytes = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  struct sigaction action = {};
  action.sa_sigaction = OnBusError;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigemptyset(&action.sa_mask);
  installed = ::sigaction(SIGBUS, &action, &before) == 0;
}

int64_t LostPages() {
  return lost_pages;
}

void AddMappedRegion(const std::byte* begin, size_t size, const std::string& path) {
  std::unique_ptr<Region> fresh;
  const std::lock_guard<std::mutex> lock(mutex);
  Region* region = unused;
  if (region == nullptr) {
    fresh = std::make_unique<Region>();
    region = fresh.get();
  }
  region->path = path;  // the last thing that may throw
  if (fresh != nullptr) {
    region->next = all.load();
    all = fresh.release();
  } else {
    unused = region->next_unused;
  }
  const auto first = reinterpret_cast<uintptr_t>(begin);
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  region->lost = false;
  region->end = (first + size + page - 1) / page * page;
  region->begin = first;
}

void RemoveMappedRegion(const std::byte* begin) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto first = reinterpret_cast<uintptr_t>(begin);
  for (Region* region = all.load(); region != nullptr; region = region->next) {
    if (region->begin.load() != first) continue;
    region->begin = 0;
    region->next_unused = unused;
    unused = region;
    return;
  }
}

Status CheckNoPageLost(const std::string& folder) {
  if (lost_pages.load() == 0) return {};
  const std::lock_guard<std::mutex> lock(mutex);
  for (const Region* region = all.load(); region != nullptr; region = region->next) {
    if (region->begin.load() == 0 || !region->lost.load()) continue;
    if (!region->path.starts_with(folder + "/")) continue;
    return {ErrorCode::kCorrupt,
            Text(region->path, ": has become shorter, or cannot be read any more, since it was ",
                 "opened; restore the memory from a copy and open it again")};
  }
  return {};
}

}  // namespace resmem
