// Approximate search beside exact search: build time, recall, time a query alone and in a batch.
// Times are the processor's, of all threads together, which other work on the machine inflates
// little; wall time stands beside the build.
//
//   bench_ivf [--rows N] [--dim D] [--uniform | --fashion] [--threads T] [--float16]
//             [--codes BITS] [FILE.md]
#include <cstdint>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "bench_memory.h"
#include "build_stages.h"
#include "measurement.h"
#include "resmem/residual_memory.h"
#include "search_data.h"
#include "timing.h"

namespace resmem::bench {
namespace {

constexpr int64_t kQueries = 1000;

struct Options {
  int64_t rows = 200000, dim = 64;
  int threads = 1, code_bits = 8;
  bool uniform = false, fashion = false, half = false;
  std::string file;
};

std::optional<Options> Parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto number = [&] { return i + 1 < argc ? std::atoll(argv[++i]) : 0; };
    if (word == "--rows") {
      options.rows = number();
    } else if (word == "--dim") {
      options.dim = number();
    } else if (word == "--threads") {
      options.threads = static_cast<int>(number());
    } else if (word == "--codes") {
      options.code_bits = static_cast<int>(number());
    } else if (word == "--uniform") {
      options.uniform = true;
    } else if (word == "--fashion") {
      options.fashion = true;
    } else if (word == "--float16") {
      options.half = true;
    } else if (!word.starts_with("--") && options.file.empty()) {
      options.file = word;
    } else {
      return std::nullopt;
    }
  }
  if (options.rows < kQueries || options.dim < 1 || options.threads < 1) return std::nullopt;
  return options;
}

double Recall(const Neighbors& truth, const Neighbors& found) {
  int64_t right = 0;
  for (int64_t q = 0; q < truth.queries; ++q) {
    for (const float distance : found.distances_of(q)) {
      right += distance <= truth.distances_of(q).back() ? 1 : 0;
    }
  }
  return static_cast<double>(right) / static_cast<double>(truth.queries * truth.k);
}

struct Times {
  double alone, batch;  // microseconds a query
};
Result<Times> Time(const KnnIndex& index, MatrixView queries, const SearchOptions& options) {
  Neighbors found;
  const auto each = [&](double seconds, int64_t count) {
    return 1e6 * seconds / static_cast<double>(count);
  };
  std::vector<double> alone, batch;
  const int64_t singles = std::min<int64_t>(queries.rows, 200);
  for (int repeat = 0; repeat < 5; ++repeat) {
    double start = ProcessorSeconds();
    for (int64_t q = 0; q < singles; ++q) {
      RESMEM_RETURN_IF_ERROR(index.Search(queries.Slice(q, 1), options, &found));
    }
    alone.push_back(each(ProcessorSeconds() - start, singles));
    start = ProcessorSeconds();
    RESMEM_RETURN_IF_ERROR(index.Search(queries, options, &found));
    batch.push_back(each(ProcessorSeconds() - start, queries.rows));
  }
  return Times{SpreadOf(alone).median, SpreadOf(batch).median};
}

Status Measure(const Options& options, const std::string& path, std::ostream& out) {
  SearchData data;
  if (options.fashion) {
    std::optional<SearchData> fashion = FashionMnistData(kQueries);
    if (!fashion) return {ErrorCode::kNotFound, "install the package dataset-fashion-mnist"};
    data = std::move(*fashion);
  } else {
    data = options.uniform ? UniformData(options.rows, options.dim, kQueries)
                           : ClusteredData(options.rows, options.dim, kQueries);
  }
  RESMEM_RETURN_IF_ERROR(
      WriteBenchMemory(path, data, options.half ? KeyType::kFloat16 : KeyType::kFloat32, /*k=*/50));
  const MatrixView queries = data.query_view();
  out << "## " << data.name << ", " << data.key_view().rows << " x " << data.dim << ", "
      << (options.half ? "float16" : "float32") << ", codes of " << options.code_bits << " bits, "
      << options.threads << " threads\n\n"
      << MachineLine() << "\n\n"
      << "| search | k | recall | build, s (wall) | bytes a key | alone, us | batch of "
      << queries.rows << ", us a query |\n|---|---|---|---|---|---|---|\n"
      << std::fixed;
  data.keys.clear();
  data.keys.shrink_to_fit();
  SearchOptions search;
  search.threads = options.threads;
  std::ostringstream builds;
  for (const double recall : {0.0, 0.95, 0.99}) {
    const double start = ProcessorSeconds(), wall = SecondsNow();
    if (recall > 0) {
      BuildStages stages;
      RESMEM_RETURN_IF_ERROR(IndexMemory(path, {.recall = recall,
                                                .code_bits = options.code_bits,
                                                .threads = options.threads,
                                                .progress = &stages}));
      builds << "\nBuilding for " << recall << ": " << stages.Text() << ".\n";
    }
    const double processor = ProcessorSeconds() - start, seconds = SecondsNow() - wall;
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory,
                            ResidualMemory::Open(path, {.verify_blocks = false}));
    for (const int64_t k : {10, 50}) {
      search.k = k;
      Neighbors truth, found;
      RESMEM_RETURN_IF_ERROR(memory.exact_index().Search(queries, search, &truth));
      RESMEM_RETURN_IF_ERROR(memory.index().Search(queries, search, &found));
      RESMEM_ASSIGN_OR_RETURN(const Times times, Time(memory.index(), queries, search));
      const double bytes =
          recall > 0 ? static_cast<double>(memory.index_info()->bytes) / memory.rows() : 0;
      out << "| " << (recall > 0 ? "index, asked " : "exact ") << std::setprecision(2);
      if (recall > 0) out << recall;
      out << " | " << k << " | " << std::setprecision(4) << Recall(truth, found) << " | "
          << std::setprecision(1) << processor << " (" << seconds << ") | " << bytes << " | "
          << times.alone << " | " << times.batch << " |\n"
          << std::flush;
    }
  }
  out << builds.str() << '\n';
  return {};
}

int Main(int argc, char** argv) {
  const std::optional<Options> options = Parse(argc, argv);
  if (!options) {
    std::cerr << "usage: bench_ivf [--rows N] [--dim D] [--uniform | --fashion] [--threads T] "
                 "[--float16] [--codes BITS] [FILE.md]\n";
    return 2;
  }
  const ScratchFolder folder;
  std::ostringstream text;
  const Status status = Measure(*options, folder.path(), text);
  if (!status.ok()) {
    std::cerr << "error: " << status.message() << '\n';
    return 1;
  }
  return Publish(text.str(), options->file) ? 0 : 1;
}

}  // namespace
}  // namespace resmem::bench

int main(int argc, char** argv) {
  return resmem::bench::Main(argc, argv);
}
