// What each stage of making an index takes.
#ifndef RESMEM_BENCH_BUILD_STAGES_H_
#define RESMEM_BENCH_BUILD_STAGES_H_

#include <string>
#include <string_view>
#include <vector>

#include "resmem/progress.h"

namespace resmem::bench {

// Of all threads of this program together.
double ProcessorSeconds();

// Time that passes between two reports belongs to the later one's stage.
class BuildStages : public Progress {
 public:
  BuildStages();
  void Report(std::string_view stage, int64_t done, int64_t total) override;

  // "centroids 3.1 s (1.6 wall), ...; at most 120 MB of memory beside mapped files".
  std::string Text() const;

 private:
  struct Stage {
    std::string name;
    double processor = 0, wall = 0;
  };
  std::vector<Stage> stages_;
  double processor_, wall_;
  double most_megabytes_ = 0;
};

}  // namespace resmem::bench

#endif  // RESMEM_BENCH_BUILD_STAGES_H_
