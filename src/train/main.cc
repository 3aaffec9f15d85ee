// resmem-train FOLDER: trains by FOLDER/recipe.json.  `resmem train` writes that file and starts
// this program, so that nothing else of resmem links libtorch or waits for it to load.
#include <malloc.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "train/environment.h"
#include "train/trainer.h"

namespace {

std::atomic<bool> stopped = false;

void Stop(int signal_number) {
  stopped = true;
  signal(signal_number, SIG_DFL);  // the second one kills
}

std::string Percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f %%", 100 * share);
  return text;
}

std::string TimeLeft(double seconds) {
  char text[32];
  if (seconds >= 5400) {
    std::snprintf(text, sizeof text, "%.1f h", seconds / 3600);
  } else if (seconds >= 90) {
    std::snprintf(text, sizeof text, "%.0f min", seconds / 60);
  } else {
    std::snprintf(text, sizeof text, "%.0f s", seconds);
  }
  return text;
}

void PrintEpoch(const resmem::train::EpochReport& r) {
  std::string line = "epoch " + std::to_string(r.epoch) + " of " + std::to_string(r.epochs);
  char numbers[96];
  std::snprintf(numbers, sizeof numbers, "  rate %.4g  loss %.4f  train ", r.rate, r.loss);
  line += numbers + Percent(r.train_accuracy);
  if (r.validation_accuracy >= 0) line += "  held out " + Percent(r.validation_accuracy);
  if (r.test_accuracy >= 0) line += "  test " + Percent(r.test_accuracy);
  std::snprintf(numbers, sizeof numbers, "  %.0f rows/s", r.images_per_second);
  line += numbers;
  if (r.epoch < r.epochs) {
    const double left =
        r.seconds / static_cast<double>(r.epoch) * static_cast<double>(r.epochs - r.epoch);
    line += "  " + TimeLeft(left) + " left";
  }
  std::fprintf(stderr, "%s\n", line.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr,
                 "usage: resmem-train FOLDER  (made by resmem train; see resmem train -h)\n");
    return 2;
  }
  resmem::train::SetEnvironment(argv);
  signal(SIGINT, Stop);
  signal(SIGTERM, Stop);
  const bool terminal = isatty(STDERR_FILENO) == 1;
  resmem::train::TrainObserver observer;
  observer.note = [](const std::string& note) { std::fprintf(stderr, "%s\n", note.c_str()); };
  observer.step = [&](int64_t epoch, int64_t step, int64_t steps, double loss) {
    if (terminal) {
      std::fprintf(stderr, "\repoch %lld: step %lld of %lld, loss %.3f \033[K%s",
                   static_cast<long long>(epoch + 1), static_cast<long long>(step),
                   static_cast<long long>(steps), loss, step == steps ? "\r\033[K" : "");
    }
    return !stopped;
  };
  observer.epoch = PrintEpoch;
  const resmem::Status status = resmem::train::Train(argv[1], observer);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%sresmem train: %s\n", terminal ? "\r\033[K" : "",
               status.message().c_str());
  return resmem::train::ExitCodeOf(status);
}
