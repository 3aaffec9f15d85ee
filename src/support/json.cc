#include "support/json.h"

#include <cstdlib>
#include <exception>
#include <mutex>

namespace resmem {
namespace {

// Pages that nobody touches take no memory.
constexpr size_t kReserve = 1 << 20;
alignas(std::max_align_t) char reserve[kReserve];
std::mutex mutex;
size_t taken = 0;    // guarded by mutex
int64_t living = 0;  // pieces of the reserve; guarded by mutex

}  // namespace

void* TakeSurely(size_t bytes) noexcept {
  if (void* place = std::malloc(bytes)) return place;
  const std::lock_guard<std::mutex> lock(mutex);
  const size_t rounded = (bytes + alignof(std::max_align_t) - 1) / alignof(std::max_align_t) *
                         alignof(std::max_align_t);
  if (rounded < bytes || rounded > kReserve - taken) std::terminate();
  void* const place = reserve + taken;
  taken += rounded;
  ++living;
  return place;
}

void GiveBack(void* place) noexcept {
  const auto where = reinterpret_cast<uintptr_t>(place);
  const auto begin = reinterpret_cast<uintptr_t>(&reserve[0]);
  if (where < begin || where >= begin + kReserve) return std::free(place);
  const std::lock_guard<std::mutex> lock(mutex);
  if (--living == 0) taken = 0;
}

}  // namespace resmem
