#include "console/progress_bar.h"

#include <algorithm>
#include <cstdio>

#include "console/format.h"
#include "console/interrupt.h"

namespace resmem::cli {

std::string ProgressText(std::string_view stage, int64_t done, int64_t total, double seconds) {
  constexpr int kCells = 20;
  const double share =
      total > 0 ? std::clamp(static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0) : 0;
  const int full = static_cast<int>(share * kCells);
  std::string text = std::string(stage) + "  [" + std::string(full, '#') +
                     std::string(kCells - full, '-') + "]  " + Fixed(100 * share, 0) + " %  " +
                     Count(done) + " of " + Count(total);
  if (done > 0 && seconds > 0) {
    const double rate = static_cast<double>(done) / seconds;
    text += "  " + (rate < 10 ? Fixed(rate, 1) : Count(static_cast<int64_t>(rate))) + "/s  " +
            Duration(static_cast<double>(std::max<int64_t>(0, total - done)) / rate) + " left";
  }
  return text;
}

void ProgressBar::Report(std::string_view stage, int64_t done, int64_t total) {
  if (!visible_) return;
  if (done >= total) return Clear();
  const Clock::time_point now = Clock::now();
  if (stage != stage_ || done == 0) {
    stage_ = stage;
    stage_begin_ = now;
    last_drawn_ = now;  // what takes less than a moment needs no bar
    return;
  }
  if (now - last_drawn_ < std::chrono::milliseconds(150)) return;
  last_drawn_ = now;
  drawn_ = true;
  const double seconds = std::chrono::duration<double>(now - stage_begin_).count();
  std::fprintf(stderr, "\r\033[K%s", ProgressText(stage, done, total, seconds).c_str());
  std::fflush(stderr);
}

bool ProgressBar::Cancelled() const {
  return InterruptSignal() != 0;
}

void ProgressBar::Hide() {
  Clear();
  visible_ = false;
}

void ProgressBar::Clear() {
  if (drawn_) std::fputs("\r\033[K", stderr);
  drawn_ = false;
}

}  // namespace resmem::cli
