// Progress of the present stage as one line on a terminal, redrawn a few times a second:
//   searching  [##########----------]  50 %  5,000 of 10,000 rows  12,300/s  2.1 s left
#ifndef RESMEM_CLI_CONSOLE_PROGRESS_BAR_H_
#define RESMEM_CLI_CONSOLE_PROGRESS_BAR_H_

#include <chrono>
#include <string>

#include "resmem/progress.h"

namespace resmem::cli {

class ProgressBar : public Progress {
 public:
  explicit ProgressBar(bool visible) : visible_(visible) {}
  ~ProgressBar() override { Clear(); }

  void Report(std::string_view stage, int64_t done, int64_t total) override;
  bool Cancelled() const override;

  void Hide();
  void Clear();  // wipes the line, so that other words can be printed

 private:
  using Clock = std::chrono::steady_clock;

  bool visible_;
  bool drawn_ = false;
  std::string stage_;
  Clock::time_point stage_begin_, last_drawn_;
};

// The line for a stage that has run for `seconds`.
std::string ProgressText(std::string_view stage, int64_t done, int64_t total, double seconds);

}  // namespace resmem::cli

#endif  // RESMEM_CLI_CONSOLE_PROGRESS_BAR_H_
