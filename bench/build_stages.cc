#include "build_stages.h"

#include <algorithm>
#include <ctime>
#include <fstream>
#include <iomanip>
#include <sstream>

#include "timing.h"

namespace resmem::bench {
namespace {

// Memory that is this program's alone: mapped files are left out.
double OwnMegabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kilobytes = 0;
    if (word == "RssAnon:" && status >> kilobytes) return kilobytes / 1024;
  }
  return 0;
}

}  // namespace

double ProcessorSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

BuildStages::BuildStages() : processor_(ProcessorSeconds()), wall_(SecondsNow()) {}

void BuildStages::Report(std::string_view stage, int64_t, int64_t) {
  auto found = std::find_if(stages_.begin(), stages_.end(),
                            [&](const Stage& other) { return other.name == stage; });
  if (found == stages_.end()) {
    stages_.push_back({std::string(stage)});
    found = stages_.end() - 1;
  }
  const double processor = ProcessorSeconds(), wall = SecondsNow();
  found->processor += processor - processor_;
  found->wall += wall - wall_;
  processor_ = processor;
  wall_ = wall;
  most_megabytes_ = std::max(most_megabytes_, OwnMegabytes());
}

std::string BuildStages::Text() const {
  std::ostringstream text;
  text << std::fixed << std::setprecision(1);
  for (const Stage& stage : stages_) {
    text << stage.name << ' ' << stage.processor << " s (" << stage.wall << " wall), ";
  }
  text << std::setprecision(0) << "at most " << most_megabytes_ << " MB beside mapped files";
  return text.str();
}

}  // namespace resmem::bench
