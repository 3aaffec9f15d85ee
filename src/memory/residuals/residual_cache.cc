#include "memory/residuals/residual_cache.h"

#include "support/check.h"

namespace resmem {

ResidualCache::ResidualCache(int64_t rows, int64_t outputs, float temperature)
    : outputs_(outputs),
      temperature_(temperature),
      values_(std::make_unique_for_overwrite<float[]>(static_cast<size_t>(rows * outputs))),
      states_(static_cast<size_t>(rows)) {
  RESMEM_DCHECK(Fits(rows, outputs));
}

}  // namespace resmem
