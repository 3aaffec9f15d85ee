// How much the single neighbor pass saves: the grid 20 k x 20 sigma x 20 T against 8,000 separate
// evaluations, of which a handful is timed.  Answers are compared before anything is timed.
//
//   bench_tune [FILE.md]
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "measurement.h"
#include "resmem/tuner.h"

namespace resmem::bench {
namespace {

constexpr int64_t kKeys = 50000, kQueries = 10000, kDim = 64, kClasses = 100;
constexpr int kSeparate = 6;  // evaluations timed

// Wall time, and processor time of all threads, which other work on the machine does not inflate.
struct Seconds {
  double wall = 0, processor = 0;
};
Seconds Now() {
  const auto wall = std::chrono::steady_clock::now().time_since_epoch();
  return {std::chrono::duration<double>(wall).count(),
          static_cast<double>(std::clock()) / CLOCKS_PER_SEC};
}
Seconds Since(const Seconds& start) {
  const Seconds now = Now();
  return {now.wall - start.wall, now.processor - start.processor};
}

// Clusters of classes that overlap; the base knows a part, as CIFAR-100's small networks do.
struct Problem {
  Problem(int64_t rows, uint64_t seed) : count(rows) {
    std::mt19937_64 centers(1), random(seed);
    std::normal_distribution<float> normal;
    std::vector<float> center(kClasses * kDim);
    for (float& x : center) x = 0.55f * normal(centers);
    for (int64_t row = 0; row < rows; ++row) {
      const auto label = static_cast<int32_t>(random() % kClasses);
      labels.push_back(label);
      for (int64_t d = 0; d < kDim; ++d) {
        keys.push_back(center[static_cast<size_t>(label * kDim + d)] + normal(random));
      }
      for (int64_t c = 0; c < kClasses; ++c) {
        logits.push_back((c == label ? 2.6f : c / 5 == label / 5 ? 1.5f : 0.0f) + normal(random));
      }
    }
  }
  Rows view() const {
    Rows rows;
    rows.keys = MatrixView(keys.data(), count, kDim);
    rows.logits = MatrixView(logits.data(), count, kClasses);
    rows.labels = labels;
    return rows;
  }
  int64_t count;
  std::vector<float> keys, logits;
  std::vector<int32_t> labels;
};

struct Folder {
  std::string path =
      std::filesystem::temp_directory_path() / ("resmem_bench_tune_" + std::to_string(::getpid()));
  ~Folder() { std::filesystem::remove_all(path); }
};

Status WriteMemory(const std::string& path, const Problem& problem) {
  MemoryDescription description;
  description.dim = kDim;
  description.outputs = kClasses;
  RESMEM_ASSIGN_OR_RETURN(MemoryWriter writer,
                          MemoryWriter::Create(path, description, problem.count, {}));
  RESMEM_RETURN_IF_ERROR(writer.Add(problem.view()));
  return writer.Finish();
}

// The least that an evaluation must do: search, score, compare.  Returns fixed and harmed.
Result<PairedGain> Separate(const Predictor& predictor, const Problem& queries,
                            const Parameters& parameters) {
  const Rows rows = queries.view();
  PredictOptions options;
  options.parameters = parameters;
  std::vector<float> scores(queries.logits.size()), base(queries.logits.size());
  RESMEM_RETURN_IF_ERROR(predictor.Predict(rows.keys, rows.logits, options, scores));
  Neighbors none;
  none.queries = rows.count();
  options.method = Method::kBase;
  RESMEM_RETURN_IF_ERROR(predictor.Score(rows.keys, rows.logits, none, options, base));
  int64_t counts[2][2] = {};
  for (int64_t q = 0; q < rows.count(); ++q) {
    const int32_t label = rows.labels[static_cast<size_t>(q)];
    const bool base_right =
        ArgMax(MatrixView(base.data(), rows.count(), kClasses).row_span(q)) == label;
    const bool right =
        ArgMax(MatrixView(scores.data(), rows.count(), kClasses).row_span(q)) == label;
    ++counts[base_right ? 1 : 0][right ? 1 : 0];
  }
  return MakePairedGain(counts[0][1], counts[1][0], counts[1][1], counts[0][0]);
}

Status Run(const std::string& output) {
  const Folder folder;
  RESMEM_RETURN_IF_ERROR(WriteMemory(folder.path, Problem(kKeys, 2)));
  RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory, ResidualMemory::Open(folder.path));
  const Predictor predictor(memory);
  const Problem queries(kQueries, 3);

  TuneOptions options;  // ResMem's grid alone
  options.objective = Objective::kGain;
  options.method = Method::kResMem;
  options.folds = 0;
  const Seconds start = Now();
  RESMEM_ASSIGN_OR_RETURN(const Tuning tuning, Tune(predictor, ReadRows(queries.view()), options));
  const Seconds whole = Since(start);

  Seconds separate;
  const size_t points = tuning.points.size();
  for (size_t i = 0; i < kSeparate; ++i) {
    const TuningPoint& point = tuning.points[(2 * i + 1) * points / (2 * kSeparate) + 3 * i];
    const Seconds before = Now();
    RESMEM_ASSIGN_OR_RETURN(const PairedGain gain, Separate(predictor, queries, point.parameters));
    const Seconds spent = Since(before);
    separate.wall += spent.wall / kSeparate;
    separate.processor += spent.processor / kSeparate;
    if (gain.fixed != point.fixed || gain.harmed != point.harmed) {
      return {ErrorCode::kMismatch, "the grid and a separate evaluation disagree"};
    }
  }

  const double count = static_cast<double>(points);
  const double ratio = separate.processor * count / whole.processor;
  std::ostringstream text;
  const auto line = [&text](const std::string& name, const Seconds& seconds) {
    text << "| " << name << " | " << seconds.wall << " | " << seconds.processor << " |\n";
  };
  text << std::fixed << std::setprecision(2) << "# Tuning from one neighbor pass\n\n"
       << "`build/release/bench/bench_tune docs/measurements/tune.md`  \n"
       << MachineLine() << "\n\n"
       << kKeys << " keys of " << kDim << " floats, " << kClasses << " classes, " << kQueries
       << " validation rows; " << tuning.grid.k.size() << " k (up to " << tuning.grid.k.back()
       << ") x " << tuning.grid.sigma.size() << " sigma x " << tuning.grid.temperature.size()
       << " T.\nFixed and harmed were equal, count for count, at the " << kSeparate
       << " points that were also evaluated separately. A separate\nevaluation is the least that "
          "it can be: search at its k, scores, comparison with the labels.\n\n"
       << "| | seconds | of processor time |\n|---|---|---|\n";
  line("the whole grid of " + std::to_string(points) + " points, search and choice", whole);
  line("one separate evaluation (mean of " + std::to_string(kSeparate) + ")", separate);
  line(std::to_string(points) + " of them (from the mean)",
       {separate.wall * count, separate.processor * count});
  text << "\nRatio of processor times: 1 / " << std::setprecision(0) << ratio << ".\n";
  if (!Publish(text.str(), output)) return {ErrorCode::kIo, "the result was not written"};
  if (whole.wall >= 60 || ratio < 50) {
    return {ErrorCode::kMismatch, "slower than required; is the machine busy?"};
  }
  return {};
}

}  // namespace
}  // namespace resmem::bench

int main(int argc, char** argv) {
  const resmem::Status status = resmem::bench::Run(argc > 1 ? argv[1] : "");
  if (status.ok()) return 0;
  std::cerr << "bench_tune: " << status.message() << "\n";
  return 1;
}
