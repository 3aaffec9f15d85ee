// Residuals of rows whose logits are stored, kept once they were computed: a row that was a
// neighbor is likely to be one again, and its softmax takes far longer than adding it up.
//
// Any number of threads may ask and keep.  What is kept are the very bits that were computed, so
// that no answer depends on what has been asked before.
#ifndef RESMEM_MEMORY_RESIDUALS_RESIDUAL_CACHE_H_
#define RESMEM_MEMORY_RESIDUALS_RESIDUAL_CACHE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

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

  // Of residuals at `temperature`.  Requires Fits().
  ResidualCache(int64_t rows, int64_t outputs, float temperature);

  float temperature() const { return temperature_; }

  // The residual of a row, by compute(float* out) if it is not kept; null where another thread
  // computes it just now.
  template <class Compute>
  const float* FindOrKeep(int64_t row, const Compute& compute) {
    float* const place = values_.get() + row * outputs_;
    std::atomic<State>& state = states_[static_cast<size_t>(row)];
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
  enum class State : uint8_t { kNone, kBusy, kKept };

  const int64_t outputs_;
  const float temperature_;
  std::unique_ptr<float[]> values_;  // pages of rows that were never kept are never touched
  std::vector<std::atomic<State>> states_;
};

}  // namespace resmem

#endif  // RESMEM_MEMORY_RESIDUALS_RESIDUAL_CACHE_H_
