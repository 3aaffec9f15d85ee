// resmem-train FOLDER: trains by FOLDER/recipe.json.  `resmem train` writes that file and starts
// this program, so that nothing else of resmem links libtorch or waits for it to load.
//
// Tells what happens as lines of JSON on standard output, each an object with one member:
//   {"note": "words"}
//   {"step": {"epoch", "step", "steps", "loss"}}           some a second
//   {"epoch": {the line of log.jsonl}}
//   {"error": {"code": "bad data", "message": "..."}}      then it ends with 1
#include <signal.h>

#include <atomic>
#include <chrono>
#include <cstdio>

#include "process/last_words.h"
#include "train/environment.h"
#include "train/epoch_json.h"
#include "train/trainer.h"

namespace {

using resmem::Json;

std::atomic<bool> stopped = false;

void Stop(int signal_number) {
  stopped = true;
  signal(signal_number, SIG_DFL);  // the second one kills
}

// A reader that left ends the run: nobody would see what it does.
void Say(const char* kind, const Json& what) {
  const std::string line =
      Json{{kind, what}}.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  if (std::fputs(line.c_str(), stdout) < 0 || std::fflush(stdout) != 0) stopped = true;
}

// Before any global is made, which may find no memory.
[[gnu::constructor(101)]] void Prepare() {
  resmem::cli::PrepareForTheWorst();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: resmem-train FOLDER  (started by resmem train; see resmem train -h)\n",
               stderr);
    return 2;
  }
  resmem::train::SetEnvironment(argv);
  signal(SIGINT, Stop);
  signal(SIGTERM, Stop);
  signal(SIGPIPE, SIG_IGN);
  using Clock = std::chrono::steady_clock;
  constexpr auto kPause = std::chrono::milliseconds(200);
  Clock::time_point said = Clock::now() - kPause;
  resmem::train::TrainObserver observer;
  observer.note = [](const std::string& note) { Say("note", note); };
  observer.step = [&](int64_t epoch, int64_t step, int64_t steps, double loss) {
    if (Clock::now() - said >= kPause) {
      Say("step", {{"epoch", epoch + 1}, {"step", step}, {"steps", steps}, {"loss", loss}});
      said = Clock::now();
    }
    return !stopped;
  };
  observer.epoch = [](const resmem::train::EpochReport& report) {
    Say("epoch", resmem::train::EpochJson(report));
  };
  const resmem::Status status = resmem::train::Train(argv[1], observer);
  if (status.ok()) return 0;
  Say("error", {{"code", resmem::ErrorCodeName(status.code())}, {"message", status.message()}});
  return 1;
}
