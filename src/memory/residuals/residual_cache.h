// Residuals of rows whose logits are stored, kept once they were computed: a row that was a
// neighbor is likely to be one again, and its softmax takes far longer than adding it up.
//
// Any number of threads may ask and keep.  What is kept are the very bits that were computed, so
// that no answer depends on what has been asked before.
//
// Rows are kept segment by segment, so that the next state of a memory goes on with those of the
// segments that it shares with the former one.
#ifndef RESMEM_MEMORY_RESIDUALS_RESIDUAL_CACHE_H_
#define RESMEM_MEMORY_RESIDUALS_RESIDUAL_CACHE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "support/part_finder.h"

namespace resmem {

class ResidualCache {
 public:
  // Room that is taken as rows are kept, 4 bytes an output.  Where there are more rows, few come
  // again, and a page that is touched for the first time costs more than the softmax (2,000,000
  // rows of 100 classes: 120 us a query, not 9).
  static constexpr int64_t kMostBytes = int64_t{1} << 26;
  static bool Fits(int64_t rows, int64_t outputs) {
    return outputs <= kMostBytes / 4 && rows <= kMostBytes / (4 * outputs);
  }

  enum class State : uint8_t { kNone, kBusy, kKept };

  // The rows of one.
  class Segment {
   public:
    Segment(int64_t rows, int64_t outputs);

   private:
    friend class ResidualCache;
    const int64_t rows;
    std::unique_ptr<float[]> values;  // pages of rows that were never kept are never touched
    std::vector<std::atomic<State>> states;
  };

  // Of residuals at `temperature`, all rows in one segment.  Requires Fits().
  ResidualCache(int64_t rows, int64_t outputs, float temperature);
  // Of segments one behind the other, those of MakeSegment() or of another cache for this
  // temperature.
  ResidualCache(std::vector<std::shared_ptr<Segment>> segments, int64_t outputs, float temperature);
  static std::shared_ptr<Segment> MakeSegment(int64_t rows, int64_t outputs);

  float temperature() const { return temperature_; }
  const std::vector<std::shared_ptr<Segment>>& segments() const { return segments_; }

  // The residual of a row, by compute(float* out) if it is not kept; null where another thread
  // computes it just now.
  template <class Compute>
  const float* FindOrKeep(int64_t row, const Compute& compute) {
    const size_t part = parts_.PartOf(row);
    Segment& segment = *segments_[part];
    row -= parts_.start(part);
    float* const place = segment.values.get() + row * outputs_;
    std::atomic<State>& state = segment.states[static_cast<size_t>(row)];
    State found = state.load(std::memory_order_acquire);
    if (found == State::kKept) return place;
    if (found != State::kNone ||
        !state.compare_exchange_strong(found, State::kBusy, std::memory_order_acquire)) {
      return nullptr;
    }
    compute(place);
    state.store(State::kKept, std::memory_order_release);
    return place;
  }

 private:
  const int64_t outputs_;
  const float temperature_;
  std::vector<std::shared_ptr<Segment>> segments_;
  PartFinder parts_;  // the segments
};

}  // namespace resmem

#endif  // RESMEM_MEMORY_RESIDUALS_RESIDUAL_CACHE_H_
