#include "lm_training/training_windows.h"

#include <algorithm>
#include <numeric>

#include "support/random.h"

namespace resmem {
namespace {

// Streams of one seed that must not meet: parameters are drawn from the low ones.
constexpr uint64_t kShuffleStream = uint64_t{1} << 62;

}  // namespace

std::vector<TrainingWindow> CutWindows(const TokenSet& tokens, int64_t context) {
  std::vector<TrainingWindow> windows;
  for (int64_t document = 0; document < tokens.documents(); ++document) {
    const TokenRange range = tokens.document(document);
    for (int64_t begin = range.begin; begin + 1 < range.end; begin += context) {
      windows.push_back({begin, std::min(context, range.end - 1 - begin)});
    }
  }
  return windows;
}

std::vector<int64_t> ShuffledWindows(int64_t count, uint64_t seed, int64_t pass) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  Random random(seed, kShuffleStream + static_cast<uint64_t>(pass));
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.Below(i)]);
  return order;
}

std::vector<TrainingWindow> EvenlySpread(const std::vector<TrainingWindow>& windows,
                                         int64_t count) {
  const auto present = static_cast<int64_t>(windows.size());
  if (present <= count) return windows;
  std::vector<TrainingWindow> some;
  for (int64_t i = 0; i < count; ++i) {
    // In floating point, as present * i may be too large for an integer.
    const double share = static_cast<double>(i) / static_cast<double>(count);
    some.push_back(windows[static_cast<size_t>(share * static_cast<double>(present))]);
  }
  return some;
}

ExampleBatch::ExampleBatch(const TokenSet& tokens, const std::vector<TrainingWindow>& windows) {
  ids_.reserve(windows.size());
  for (const TrainingWindow& window : windows) {
    const auto length = static_cast<size_t>(window.length);
    std::vector<int32_t>& ids = ids_.emplace_back(length + 1);
    tokens.Read(window.begin, std::span(ids));
    examples_.push_back({std::span(ids).first(length), std::span(ids).subspan(1)});
    predicted_ += window.length;
  }
}

}  // namespace resmem
