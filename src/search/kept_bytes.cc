#include "search/kept_bytes.h"

#include <atomic>

#include "support/check.h"
#include "support/process_memory.h"

namespace resmem {
namespace {

std::atomic<int64_t> taken{0};

}  // namespace

int64_t KeptBytes::Room() {
  return ProcessMemory() / 8;
}

std::optional<KeptBytes> KeptBytes::Take(int64_t bytes) {
  RESMEM_DCHECK(bytes >= 0);
  int64_t before = taken;
  do {
    if (bytes > Room() - before) return std::nullopt;
  } while (!taken.compare_exchange_weak(before, before + bytes));
  return KeptBytes(bytes);
}

KeptBytes::~KeptBytes() {
  taken -= bytes_;
}

}  // namespace resmem
