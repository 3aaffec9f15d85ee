#include "memory/residuals/residual_cache.h"

#include "support/check.h"

namespace resmem {

ResidualCache::Segment::Segment(int64_t rows_in, int64_t outputs)
    : rows(rows_in),
      values(std::make_unique_for_overwrite<float[]>(static_cast<size_t>(rows * outputs))),
      states(static_cast<size_t>(rows)) {}

std::shared_ptr<ResidualCache::Segment> ResidualCache::MakeSegment(int64_t rows, int64_t outputs) {
  RESMEM_DCHECK(Fits(rows, outputs));
  return std::make_shared<Segment>(rows, outputs);
}

ResidualCache::ResidualCache(int64_t rows, int64_t outputs, float temperature)
    : ResidualCache({MakeSegment(rows, outputs)}, outputs, temperature) {}

ResidualCache::ResidualCache(std::vector<std::shared_ptr<Segment>> segments, int64_t outputs,
                             float temperature)
    : outputs_(outputs), temperature_(temperature), segments_(std::move(segments)) {
  std::vector<int64_t> starts = {0};
  for (const auto& segment : segments_) starts.push_back(starts.back() + segment->rows);
  parts_ = PartFinder(std::move(starts));
}

}  // namespace resmem
