// What a prediction adds to a search, the weighted sum of k residuals, beside searches that it
// would follow.  See docs/measurements/residual_sum.md.
//
//   bench_residual_sum [--folder FOLDER] [--memory NAME MEMORY QUERIES]... [--markdown FILE]
//
// Memories are made in the folder, or found there from an earlier run; without one they are made in
// a scratch folder.  They take some 7 GB.  --memory: a memory as it lies on the disk, asked with
// the keys of another.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <sstream>

#include "bench_memory.h"
#include "machine_limits.h"
#include "measurement.h"
#include "memory/residuals/residual_sum.h"
#include "predict/correction.h"
#include "resmem/residual_memory.h"
#include "search_data.h"
#include "support/random.h"
#include "support/text.h"
#include "timing.h"

namespace resmem::bench {
namespace {

constexpr int64_t kQueries = 1000, kRounds = 20, kNeighbors = 50, kTop = 128;

// A memory of keys, to be searched.
struct SearchCase {
  const char* name;
  const char* folder;
  int64_t rows, dim;
  KeyType type;
  double recall;  // of its index; 0 without one
};
constexpr SearchCase kSearches[] = {
    {"50,000 x 64", "keys_images", 50000, 64, KeyType::kFloat32, 0},
    {"100,000 x 1,280", "keys_wide", 100000, 1280, KeyType::kFloat32, 0},
    {"1,000,000 x 256 float16, index of recall 0.95", "keys_tokens", 1000000, 256,
     KeyType::kFloat16, 0.95},
    {"1,000,000 x 256 float16, exact", "keys_tokens", 1000000, 256, KeyType::kFloat16, 0},
    {"2,000,000 x 64, index of recall 0.95", "keys_many", 2000000, 64, KeyType::kFloat32, 0.95},
    {"2,000,000 x 64, exact", "keys_many", 2000000, 64, KeyType::kFloat32, 0},
};
enum SearchNumber { kImages, kWide, kTokens, kTokensExact, kMany, kManyExact };

// A memory of residuals; nobody searches it.
struct SumCase {
  const char* name;
  const char* folder;
  int64_t rows, outputs;
  ResidualForm form;
  bool half;
  int64_t classes;  // that have large logits in any row
  std::vector<SearchNumber> searches;

  // Read for one query: the neighbors' values, and two bytes more for the class of each.
  double bytes() const {
    const double width = half ? 2 : 4;
    const double row = form == ResidualForm::kSparse ? static_cast<double>(kTop) * (width + 2)
                                                     : static_cast<double>(outputs) * width;
    return row * static_cast<double>(kNeighbors);
  }
};
// clang-format off
const SumCase kSums[] = {
    {"dense, 100 classes", "dense_100", 2000000, 100, ResidualForm::kDense, false, 100,
     {kMany, kManyExact}},
    {"the same, 50,000 rows", "dense_100_small", 50000, 100, ResidualForm::kDense, false, 100,
     {kImages}},
    {"logits, 100 classes", "logits_100", 2000000, 100, ResidualForm::kLogits, false, 100,
     {kMany, kManyExact}},
    {"the same, 50,000 rows", "logits_100_small", 50000, 100, ResidualForm::kLogits, false, 100,
     {kImages}},
    {"dense, 1,000 classes", "dense_1000", 200000, 1000, ResidualForm::kDense, false, 1000,
     {kWide}},
    {"dense float16, 1,000 classes", "half_1000", 400000, 1000, ResidualForm::kDense, true, 1000,
     {kWide}},
    {"sparse float16, 128 of 32,128, 640 among the neighbors", "sparse_shared", 1000000, 32128,
     ResidualForm::kSparse, true, 640, {kTokens, kTokensExact}},
    {"sparse float16, 128 of 32,128, any", "sparse_any", 1000000, 32128, ResidualForm::kSparse,
     true, 32128, {kTokens, kTokensExact}},
};
// clang-format on

Status WriteResiduals(const SumCase& c, const std::string& path) {
  MemoryDescription description;
  description.dim = 1;
  description.outputs = c.outputs;
  description.form = c.form;
  description.top = std::min(kTop, c.outputs);
  description.half_residuals = c.half;
  RESMEM_ASSIGN_OR_RETURN(MemoryWriter writer, MemoryWriter::Create(path, description, c.rows, {}));
  constexpr int64_t kTogether = 500;  // with the same logits, and other labels
  Random random(5);
  std::vector<int64_t> order(static_cast<size_t>(c.outputs));
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.Below(i)]);
  const std::vector<float> keys(kTogether);
  std::vector<float> logits(static_cast<size_t>(kTogether * c.outputs));
  std::vector<int32_t> labels(static_cast<size_t>(kTogether));
  const auto any = [&] { return order[random.Below(static_cast<uint64_t>(c.classes))]; };
  for (int64_t row = 0; row < kTogether; ++row) {
    for (int64_t i = 0; i < c.classes; ++i) {
      logits[row * c.outputs + order[i]] = static_cast<float>(4 + 6 * random.Uniform());
    }
  }
  for (int64_t begin = 0; begin < c.rows; begin += kTogether) {
    for (int32_t& label : labels) label = static_cast<int32_t>(any());
    Rows rows;
    rows.keys = MatrixView(keys.data(), kTogether, 1);
    rows.logits = MatrixView(logits.data(), kTogether, c.outputs);
    rows.labels = labels;
    RESMEM_RETURN_IF_ERROR(writer.Add(rows));
  }
  return writer.Finish();
}

Status WriteKeys(const SearchCase& c, const std::string& path) {
  const SearchData data = ClusteredData(c.rows, c.dim, 0);
  RESMEM_RETURN_IF_ERROR(WriteBenchMemory(path, data, c.type, kNeighbors));
  if (c.recall == 0) return Status();
  IndexOptions options;
  options.recall = c.recall;
  return IndexMemory(path, options);
}

struct SearchTimes {
  double alone = 0, together = 0;  // seconds a query
};

constexpr SearchOptions kOptions{.k = kNeighbors, .threads = 1, .exclude = {}};

// Each query alone, and as many batches of kQueries as there are.
Result<SearchTimes> TimeSearch(const KnnIndex& index, MatrixView queries) {
  Neighbors neighbors;
  Status status;  // the first that is not ok
  const auto ask = [&](int64_t i, int64_t count) {
    const MatrixView some = queries.Slice(i * count % queries.rows, count);
    if (status.ok()) status = index.Search(some, kOptions, &neighbors);
  };
  // Codes and rounded keys are made once queries have shown that they pay.
  for (int64_t q = 0; q < 20; ++q) ask(q, 1);
  ask(0, kQueries);
  const double alone = Repeat([&](int64_t i) { ask(i, 1); }).median;
  const double together = Repeat([&](int64_t i) { ask(i, kQueries); }).median;
  RESMEM_RETURN_IF_ERROR(status);
  return SearchTimes{alone, together / kQueries};
}

Result<SearchTimes> MeasureSearch(const SearchCase& c, const std::string& path) {
  OpenOptions open;
  open.exact = c.recall == 0;
  RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory, ResidualMemory::Open(path, open));
  const SearchData data = ClusteredData(0, c.dim, kQueries);
  return TimeSearch(memory.index(), data.query_view());
}

// Seconds a query, where neighbors(round, q, &weighted) gives those of one of so many rounds.
template <class NeighborsOf>
double MeasureSum(const ResidualMemory& memory, int64_t rounds, const NeighborsOf& neighbors) {
  std::vector<float> scores(static_cast<size_t>(memory.description().outputs));
  WeightedNeighbors weighted;
  ResidualSum sum(memory);
  const float temperature = memory.description().parameters.temperature;
  const auto run = [&](int64_t round) {
    for (int64_t q = 0; q < kQueries; ++q) {
      neighbors(round % rounds, q, &weighted);
      sum.AddTo(weighted.rows, weighted.weights, temperature, weighted.scale, scores);
    }
  };
  for (int64_t round = 0; round < rounds; ++round) run(round);  // every page once
  return Repeat(run).median / kQueries;
}

Result<double> MeasureCase(const SumCase& c, const std::string& path) {
  RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory, ResidualMemory::Open(path));
  // Of the whole memory, and other ones each time: none of them lies in a cache.
  Random random(7);
  std::vector<int64_t> rows(static_cast<size_t>(kRounds * kQueries * kNeighbors));
  for (int64_t& row : rows) {
    row = static_cast<int64_t>(random.Below(static_cast<uint64_t>(c.rows)));
  }
  std::vector<float> distances(kNeighbors);
  for (size_t i = 0; i < distances.size(); ++i) distances[i] = 1 + 0.01f * static_cast<float>(i);
  return MeasureSum(memory, kRounds, [&](int64_t round, int64_t q, WeightedNeighbors* weighted) {
    const auto first = static_cast<size_t>((round * kQueries + q) * kNeighbors);
    WeighNeighbors(std::span(rows).subspan(first, kNeighbors), distances, kNeighbors, 0.7f,
                   weighted);
  });
}

std::string Micros(double seconds) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f", seconds * 1e6);
  return text;
}
std::string Percent(double part, double whole) {
  char text[32];
  std::snprintf(text, sizeof(text), part < 0.001 * whole ? "%.2f %%" : "%.1f %%",
                100 * part / whole);
  return text;
}

template <class Case, class Write>
Status MakeUnlessThere(const Case& c, const std::string& path, const Write& write) {
  if (std::filesystem::exists(path)) return Status();
  std::cerr << "making " << c.folder << "\n";
  return write(c, path);
}

Status Measure(const std::string& folder, std::ostream& out) {
  std::filesystem::create_directories(folder);
  for (const SearchCase& c : kSearches) {
    RESMEM_RETURN_IF_ERROR(MakeUnlessThere(c, folder + "/" + c.folder, WriteKeys));
  }
  for (const SumCase& c : kSums) {
    RESMEM_RETURN_IF_ERROR(MakeUnlessThere(c, folder + "/" + c.folder, WriteResiduals));
  }
  double bandwidth;
  {
    const std::vector<float> large(size_t{1} << 27, 1.0f);  // more than any cache holds
    bandwidth = ReadBandwidth(large.data(), static_cast<int64_t>(large.size()), 1);
  }
  std::vector<SearchTimes> searches;
  for (const SearchCase& c : kSearches) {
    RESMEM_ASSIGN_OR_RETURN(const SearchTimes times, MeasureSearch(c, folder + "/" + c.folder));
    searches.push_back(times);
    std::cerr << "search of " << c.name << ": " << Micros(times.alone) << " us alone, "
              << Micros(times.together) << " us in batches\n";
  }
  out << "| residuals | sum | floor | floor / sum | follows a search of | alone | share | in "
         "batches "
         "| share | share of 50,000 x 64 alone | in batches |\n"
         "|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const SumCase& c : kSums) {
    RESMEM_ASSIGN_OR_RETURN(const double sum, MeasureCase(c, folder + "/" + c.folder));
    std::cerr << c.name << ": " << Micros(sum) << " us\n";
    const double floor = c.bytes() / bandwidth;
    for (const SearchNumber number : c.searches) {
      const SearchTimes &search = searches[number], &images = searches[kImages];
      out << "| " << c.name << " | " << Micros(sum) << " | " << Micros(floor) << " | "
          << Percent(floor, sum) << " | " << kSearches[number].name << " | " << Micros(search.alone)
          << " | " << Percent(sum, search.alone) << " | " << Micros(search.together) << " | "
          << Percent(sum, search.together) << " | " << Percent(sum, images.alone) << " | "
          << Percent(sum, images.together) << " |\n";
    }
  }
  return Status();
}

// A memory as it lies on the disk.
struct RealCase {
  std::string name, memory, queries;
};

// How many classes the neighbors of a query have among them, on the mean of some queries.
double ClassesAmong(const ResidualMemory& memory, const Neighbors& neighbors) {
  constexpr int64_t kSome = 60;
  const auto outputs = static_cast<size_t>(memory.description().outputs);
  const float temperature = memory.description().parameters.temperature;
  std::vector<float> residual(outputs);
  int64_t classes = 0;
  for (int64_t q = 0; q < kSome; ++q) {
    std::vector<bool> found(outputs);
    for (const int64_t row : neighbors.rows_of(q)) {
      if (row < 0) continue;
      memory.Residual(row, temperature, residual);
      for (size_t c = 0; c < outputs; ++c) found[c] = found[c] || residual[c] != 0;
    }
    classes += std::count(found.begin(), found.end(), true);
  }
  return static_cast<double>(classes) / static_cast<double>(kSome);
}

Status MeasureReal(const RealCase& c, std::ostream& out) {
  RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory, ResidualMemory::Open(c.memory));
  RESMEM_ASSIGN_OR_RETURN(const ResidualMemory asked, ResidualMemory::Open(c.queries));
  const int64_t dim = memory.description().dim, rounds = std::min(kRounds, asked.rows() / kQueries);
  if (asked.description().dim != dim || rounds == 0) {
    return Status(ErrorCode::kBadData,
                  Text(c.queries, ": ", asked.rows(), " keys of ", asked.description().dim,
                       " values; at least ", kQueries, " of ", dim, " are asked for"));
  }
  std::vector<float> keys(static_cast<size_t>(rounds * kQueries * dim));
  for (int64_t q = 0, step = asked.rows() / (rounds * kQueries); q < rounds * kQueries; ++q) {
    asked.DecodeKey(
        q * step, std::span(keys).subspan(static_cast<size_t>(q * dim), static_cast<size_t>(dim)));
  }
  const MatrixView queries(keys.data(), rounds * kQueries, dim);
  Neighbors found;
  RESMEM_RETURN_IF_ERROR(memory.index().Search(queries, kOptions, &found));
  RESMEM_ASSIGN_OR_RETURN(const SearchTimes search, TimeSearch(memory.index(), queries));
  const float sigma = memory.description().parameters.sigma;
  const double sum =
      MeasureSum(memory, rounds, [&](int64_t round, int64_t q, WeightedNeighbors* weighted) {
        const int64_t place = round * kQueries + q;
        WeighNeighbors(found.rows_of(place), found.distances_of(place), kNeighbors, sigma,
                       weighted);
      });
  out << "| " << c.name << ", " << memory.rows() << " x " << dim << " | "
      << static_cast<int64_t>(ClassesAmong(memory, found)) << " | " << Micros(sum) << " | "
      << Micros(search.alone) << " | " << Percent(sum, search.alone) << " | "
      << Micros(search.together) << " | " << Percent(sum, search.together) << " |\n";
  return Status();
}

Status MeasureAllReal(const std::vector<RealCase>& cases, std::ostream& out) {
  if (cases.empty()) return Status();
  out << "\nMemories as they lie on the disk, and the neighbors that their own search finds for "
         "the "
         "keys of\nanother, 1,000 in each of up to 20 batches: how many classes 50 neighbors have "
         "among them, on the\nmean of 60 queries, the sum, and the search.\n\n"
         "| memory | classes | sum | search alone | share | in batches | share |\n"
         "|---|---|---|---|---|---|---|\n";
  for (const RealCase& c : cases) {
    std::cerr << c.name << "\n";
    RESMEM_RETURN_IF_ERROR(MeasureReal(c, out));
  }
  return Status();
}

constexpr char kExplanation[] =
    R"(Microseconds a query, median, 1 thread, k = 50. The sum: weights from distances, the weighted
residuals of 50 neighbors added up, and the result added to the 100, 1,000 or 32,128 scores of the
base. The neighbors are rows drawn at random from a memory of 800 MB of residuals (sparse: 512 MB),
other ones each time, so that they come from memory and not from a cache; with 100 classes also from
50,000 rows, which the last cache can hold. There the memory keeps every residual that it has
once computed from logits (20 MB, of at most 64 MiB), so that their time is that of adding up,
without a softmax. Nothing is known of a query before its turn: a sum takes as long in a batch as
alone. The floor: the bytes of the residuals at the speed at which one thread reads memory from one
end to the other. Searches are timed in the same run, a query alone and batches of 1,000, once their
codes are made: those of as many keys as there are residuals, or fewer (100,000 x 1,280 beside
200,000 and 400,000 rows). The last two columns have the quickest search, 50,000 x 64, whatever the
residuals are.

Sparse residuals twice: of neighbors that have 640 classes among them, about as many as the tokens of
one memory had (docs/results/search_log.md), and of neighbors without anything in common.

)";

int Run(const std::string& folder, const std::vector<RealCase>& real, const std::string& markdown) {
  std::ostringstream page;
  page << "# The residual sum, measured\n\nMade by `" << CommandLine() << "`. " << MachineLine()
       << ".\n\n"
       << kExplanation;
  const ScratchFolder scratch;
  Status status = Measure(folder.empty() ? scratch.path() : folder, page);
  if (status.ok()) status = MeasureAllReal(real, page);
  if (!status.ok()) {
    std::cerr << status.message() << "\n";
    return 1;
  }
  return Publish(page.str(), markdown) ? 0 : 1;
}

}  // namespace
}  // namespace resmem::bench

int main(int argc, char** argv) {
  std::string folder, markdown;
  std::vector<resmem::bench::RealCase> real;
  for (int i = 1; i < argc; i += 2) {
    const std::string option = argv[i];
    if (i + 1 < argc && option == "--folder") {
      folder = argv[i + 1];
    } else if (i + 1 < argc && option == "--markdown") {
      markdown = argv[i + 1];
    } else if (i + 3 < argc && option == "--memory") {
      real.push_back({argv[i + 1], argv[i + 2], argv[i + 3]});
      i += 2;
    } else {
      std::cerr << "usage: bench_residual_sum [--folder FOLDER] [--memory NAME MEMORY QUERIES]...\n"
                   "                          [--markdown FILE]\n";
      return 2;
    }
  }
  return resmem::bench::Run(folder, real, markdown);
}
