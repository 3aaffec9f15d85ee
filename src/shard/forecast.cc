#include "resmem/shard/forecast.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "resmem/lm/document_intervals.h"
#include "resmem/lm/token_memory.h"
#include "shard/extrapolate.h"
#include "shard/inputs.h"
#include "support/choose_rows.h"
#include "support/guard.h"
#include "support/random.h"
#include "support/text.h"

namespace resmem {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

int64_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  int64_t size = 0, resident = 0;
  file >> size >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

// A draw of rows: windows of whole documents, or row numbers.
std::vector<int64_t> Draw(const ShardRows& rows, double share, uint64_t seed) {
  const auto wanted = static_cast<int64_t>(std::ceil(share * static_cast<double>(rows.rows())));
  if (!rows.tokens) return ChooseRows(rows.rows(), wanted, seed);
  std::vector<int64_t> documents(static_cast<size_t>(rows.set->documents()));
  std::iota(documents.begin(), documents.end(), int64_t{0});
  Random random(seed);
  for (size_t i = documents.size(); i > 1; --i) {
    std::swap(documents[i - 1], documents[random.Below(i)]);
  }
  std::vector<int64_t> windows;
  int64_t drawn = 0;
  for (size_t i = 0; i < documents.size() && drawn < wanted; ++i) {
    const TokenRange range = rows.set->document(documents[i]);
    const int64_t first = range.begin - documents[i], count = range.size() - 1;
    const TokenWindows& all = rows.tokens->windows();
    for (int64_t w = all.WindowOfRow(first); w <= all.WindowOfRow(first + count - 1); ++w) {
      windows.push_back(w);
    }
    drawn += count;
  }
  std::sort(windows.begin(), windows.end());
  return windows;
}

RowSource DrawnTokens(const TokenRows& rows, std::vector<int64_t> windows) {
  int64_t count = 0;
  for (const int64_t w : windows) {
    const TokenWindow window = rows.windows().window(w);
    count += window.end - window.kept;
  }
  return {count, [&rows, windows = std::move(windows)](const RowSource::Use& use) -> Status {
            TokenRows::Block block;
            int64_t first = 0;
            for (size_t i = 0; i < windows.size(); i += kWindowsAtOnce) {
              const size_t some = std::min<size_t>(kWindowsAtOnce, windows.size() - i);
              RESMEM_RETURN_IF_ERROR(rows.Read(std::span(windows).subspan(i, some), &block));
              RESMEM_RETURN_IF_ERROR(use(first, block.view));
              first += block.view.count();
            }
            return {};
          }};
}

RowSource DrawnArrays(const ShardRows& rows, std::vector<int64_t> numbers) {
  const auto count = static_cast<int64_t>(numbers.size());
  return {count, [&rows, numbers = std::move(numbers)](const RowSource::Use& use) {
            Dataset::Block some;
            std::vector<int64_t> inside;
            std::vector<uint64_t> ids;
            size_t next = 0;
            int64_t first = 0;
            return rows.Source().Read([&](int64_t begin, const Rows& block) -> Status {
              inside.clear();
              ids.clear();
              for (; next < numbers.size() && numbers[next] < begin + block.count(); ++next) {
                inside.push_back(numbers[next] - begin);
                ids.push_back(block.ids[static_cast<size_t>(inside.back())]);
              }
              if (inside.empty()) return {};
              GatherRows(block, inside, ids, &some);
              RESMEM_RETURN_IF_ERROR(use(first, some.view));
              first += some.view.count();
              return {};
            });
          }};
}

class Forecaster {
 public:
  Forecaster(const ShardPlan& plan, const ForecastOptions& options, const ShardRun& run)
      : plan_(plan), options_(options), run_(run) {}

  Result<Forecast> Run() {
    RESMEM_ASSIGN_OR_RETURN(rows_, OpenRows(plan_, plan_.rows, std::nullopt, run_.runtime));
    RESMEM_ASSIGN_OR_RETURN(queries_, OpenRows(plan_, *plan_.queries, std::nullopt, run_.runtime));
    Forecast forecast;
    forecast.rows = rows_.rows();
    forecast.queries = queries_.rows();
    uint64_t seed = options_.seed;
    for (const double share : options_.shares) {
      constexpr double kRepeated = 0.04;  // rows in all draws of a small share
      const auto draws = static_cast<int>(std::clamp(std::round(kRepeated / share), 1.0, 4.0));
      for (int draw = 0; draw < draws; ++draw) {
        RESMEM_ASSIGN_OR_RETURN(const MemoryMeasure measure, Measure(Draw(rows_, share, seed++)));
        forecast.samples.push_back(measure);
      }
    }
    Predict(&forecast);
    if (options_.check) {
      RESMEM_ASSIGN_OR_RETURN(forecast.whole, Measure(Draw(rows_, 1, 0)));
    }
    return forecast;
  }

 private:
  Result<MemoryMeasure> Measure(std::vector<int64_t> drawn) const {
    const std::string path = options_.scratch + "/sample.resmem";
    const auto remove = [&] {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    };
    remove();
    auto measure = MeasureAt(path, std::move(drawn));
    remove();
    return measure;
  }

  Result<MemoryMeasure> MeasureAt(const std::string& path, std::vector<int64_t> drawn) const {
    MemoryMeasure measure;
    const Clock::time_point begin = Clock::now();
    const RowSource source = rows_.tokens ? DrawnTokens(*rows_.tokens, std::move(drawn))
                                          : DrawnArrays(rows_, std::move(drawn));
    RESMEM_RETURN_IF_ERROR(Build(path, source));
    measure.build_seconds = SecondsSince(begin);
    ::malloc_trim(0);  // what was freed is no room for this memory
    const int64_t before = ResidentBytes();
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory,
                            ResidualMemory::Open(path, {.verify_blocks = false}));
    measure.rows = memory.rows();
    measure.disk_bytes = memory.bytes_on_disk();
    RESMEM_RETURN_IF_ERROR(WarmUp(memory));
    EvaluationOptions options;
    options.baselines = false;
    options.threads = run_.runtime.threads;
    options.progress = run_.progress;
    RESMEM_ASSIGN_OR_RETURN(Evaluation evaluation,
                            Evaluate(Predictor(memory), queries_.Source(), options));
    measure.ram_bytes = std::max<int64_t>(0, ResidentBytes() - before);
    measure.ask_seconds = (evaluation.search_seconds + evaluation.score_seconds) /
                          static_cast<double>(evaluation.rows);
    if (plan_.tokens) UseDocumentIntervals(&evaluation);
    Judge(evaluation, &measure);
    return measure;
  }

  static void Judge(const Evaluation& evaluation, MemoryMeasure* measure) {
    constexpr double kHalfWidth = 1.96;  // of a 95 % interval, in standard errors
    Interval interval = evaluation.gain.interval;
    measure->gain = evaluation.gain.gain;
    measure->nll_gain = evaluation.base_calibration.nll - evaluation.resmem_calibration.nll;
    if (evaluation.regression) {
      interval = evaluation.regression->interval;
      measure->gain = evaluation.regression->mse_reduction;
      measure->nll_gain = 0;
    }
    measure->gain_error = (interval.high - interval.low) / 2 / kHalfWidth;
  }

  Status Build(const std::string& path, const RowSource& source) const {
    RESMEM_ASSIGN_OR_RETURN(
        MemoryWriter writer,
        MemoryWriter::Create(path, Description(), source.rows(), MemoryWriter::Options()));
    const Status read = source.Read([&](int64_t first, const Rows& block) -> Status {
      if (run_.progress != nullptr) {
        run_.progress->Report("memorizing", first, source.rows());
        if (run_.progress->Cancelled()) return {ErrorCode::kCancelled, "stopped while memorizing"};
      }
      Rows rows = block;
      rows.slices = {};
      return writer.Add(rows);
    });
    RESMEM_RETURN_IF_ERROR(read);
    RESMEM_RETURN_IF_ERROR(writer.Finish(run_.progress));
    if (!plan_.recall) return {};
    return IndexMemory(path, {.recall = *plan_.recall,
                              .seed = plan_.seed,
                              .threads = run_.runtime.threads,
                              .progress = run_.progress});
  }

  MemoryDescription Description() const {
    if (!rows_.tokens) return DescribeArrayMemory(plan_, *rows_.dataset);
    TokenMemoryOptions options;
    options.key_type = plan_.key_type;
    options.top = plan_.top;
    options.parameters = plan_.parameters;
    return DescribeTokenMemory(*rows_.tokens, options);
  }

  // What the first search prepares is no part of a question's time.
  Status WarmUp(const ResidualMemory& memory) const {
    constexpr int64_t kQueries = 256;
    const int64_t dim = memory.description().dim;
    const int64_t count = std::min(kQueries, memory.rows());
    std::vector<float> keys(static_cast<size_t>(count * dim));
    for (int64_t row = 0; row < count; ++row) {
      memory.DecodeKey(
          row, std::span(keys).subspan(static_cast<size_t>(row * dim), static_cast<size_t>(dim)));
    }
    RESMEM_RETURN_IF_ERROR(memory.damage());
    SearchOptions options;
    options.k = plan_.parameters.k;
    options.threads = run_.runtime.threads;
    Neighbors found;
    return memory.index().Search(MatrixView(keys.data(), count, dim), options, &found);
  }

  void Predict(Forecast* forecast) const {
    const auto whole = static_cast<double>(forecast->rows);
    const auto line = [&](auto value) {  // errors grow as the value does
      std::vector<WeightedPoint> points;
      for (const MemoryMeasure& sample : forecast->samples) {
        const auto n = static_cast<double>(sample.rows);
        points.push_back({n, static_cast<double>(value(sample)), 1 / (n * n)});
      }
      return Extrapolate(points, whole, 1 / (whole * whole));
    };
    const auto power = [&](auto value) {
      std::vector<WeightedPoint> points;
      for (const MemoryMeasure& sample : forecast->samples) {
        points.push_back({std::log(static_cast<double>(sample.rows)), std::log(value(sample)), 1});
      }
      const Estimate at = Extrapolate(points, std::log(whole), 1);
      return Estimate{std::exp(at.value), std::exp(at.low), std::exp(at.high)};
    };
    const double error = forecast->samples.back().gain_error;
    const auto logarithmic = [&](auto value, double common) {  // small samples scatter more
      std::vector<WeightedPoint> points;
      for (const MemoryMeasure& sample : forecast->samples) {
        const auto n = static_cast<double>(sample.rows);
        points.push_back({std::log(n), value(sample), n});
      }
      Estimate at = Extrapolate(points, std::log(whole), whole);
      const double half = std::hypot(at.high - at.value, 1.96 * common);
      return Estimate{at.value, at.value - half, at.value + half};
    };
    const auto seconds = [](const MemoryMeasure& m) { return m.ask_seconds; };
    forecast->disk_bytes = line([](const MemoryMeasure& m) { return m.disk_bytes; });
    forecast->ram_bytes = line([](const MemoryMeasure& m) { return m.ram_bytes; });
    forecast->build_seconds = line([](const MemoryMeasure& m) { return m.build_seconds; });
    forecast->ask_seconds = plan_.recall ? power(seconds) : line(seconds);
    forecast->gain = logarithmic([](const MemoryMeasure& m) { return m.gain; }, error);
    forecast->nll_gain = logarithmic([](const MemoryMeasure& m) { return m.nll_gain; }, 0);
  }

  const ShardPlan& plan_;
  const ForecastOptions& options_;
  const ShardRun& run_;
  ShardRows rows_, queries_;
};

Status CheckOptions(const ShardPlan& plan, const ForecastOptions& options) {
  if (!plan.queries) {
    return {ErrorCode::kInvalidArgument, "a forecast needs queries to ask and to judge by"};
  }
  if (options.shares.size() < 3 ||
      !std::all_of(options.shares.begin(), options.shares.end(),
                   [](double share) { return share > 0 && share < 1; })) {
    return {ErrorCode::kInvalidArgument,
            "samples: give three or more shares of the rows, each above 0 and below 1"};
  }
  constexpr double kFewestRows = 30;
  const double smallest = *std::min_element(options.shares.begin(), options.shares.end());
  if (smallest * static_cast<double>(plan.total_rows()) < kFewestRows) {
    return {ErrorCode::kInvalidArgument,
            Text(plan.total_rows(), " rows are too few for a sample of ", smallest * 100,
                 " %: it would have fewer than 30; give larger shares, or build the memory")};
  }
  return {};
}

}  // namespace

Result<Forecast> ForecastMemory(const ShardPlan& plan, const ForecastOptions& options,
                                const ShardRun& run) try {
  RESMEM_RETURN_IF_ERROR(CheckOptions(plan, options));
  return Forecaster(plan, options, run).Run();
} catch (...) {
  return CaughtException("forecast the memory");
}

}  // namespace resmem
