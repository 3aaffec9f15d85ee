// What a memory will cost and gain, said before it is built, from memories of samples of its rows.
#ifndef RESMEM_SHARD_FORECAST_H_
#define RESMEM_SHARD_FORECAST_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "resmem/shard/shard_plan.h"
#include "resmem/shard/shard_steps.h"
#include "resmem/status.h"

namespace resmem {

struct Estimate {
  double value = 0, low = 0, high = 0;  // 95 %
};

// Of one memory, of some rows or of all.
struct MemoryMeasure {
  int64_t rows = 0;
  int64_t disk_bytes = 0;
  int64_t ram_bytes = 0;     // resident after the queries, more than before it was opened
  double build_seconds = 0;  // keys, rows and index
  double ask_seconds = 0;    // of one query, asked with many others: search and score
  double gain = 0;           // accuracy less the base's; regression: MSE less the base's, negated
  double gain_error = 0;     // its standard error over the queries
  double nll_gain = 0;       // the base's NLL less the memory's answer's
};

struct ForecastOptions {
  std::vector<double> shares = {0.01, 0.02, 0.05, 0.1};
  std::string scratch;  // folder that is there, for one sample's memory at a time
  uint64_t seed = 0;
  bool check = false;  // also build the whole memory and measure it
};

struct Forecast {
  int64_t rows = 0, queries = 0;
  std::vector<MemoryMeasure> samples;
  Estimate disk_bytes, ram_bytes, build_seconds, ask_seconds, gain, nll_gain;
  std::optional<MemoryMeasure> whole;  // with `check`
};

// Small samples are drawn several times, tokens by whole documents.  Bytes and seconds are a line
// in the rows (seconds of a search with an index: a power of them), gains a line in the logarithm
// of the rows.  The intervals hold the scatter of the samples, and of gains also that of the
// queries, which all samples have in common; not whether the model of growth itself holds beyond
// the samples. `plan` is PlanShards()'s, with queries.  Errors: kInvalidArgument (shares, no
// queries, too few rows), and those of MemorizeShard() and EvaluateShards().
Result<Forecast> ForecastMemory(const ShardPlan& plan, const ForecastOptions& options,
                                const ShardRun& run = {});

}  // namespace resmem

#endif  // RESMEM_SHARD_FORECAST_H_
