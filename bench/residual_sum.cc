// The weighted sum of k residuals beside the search that it follows.
//
//   bench_residual_sum [--markdown FILE]
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <sstream>

#include "machine_limits.h"
#include "measurement.h"
#include "predict/correction.h"
#include "resmem/residual_memory.h"
#include "search_data.h"
#include "support/random.h"
#include "timing.h"

namespace resmem::bench {
namespace {

constexpr int64_t kQueries = 1000, kNeighbors = 50, kDim = 64;

struct Case {
  const char* name;
  int64_t rows, outputs;
  ResidualForm form;
  bool half;

  // Read for one query: the neighbors' values, and two bytes more for the class of each.
  double bytes() const {
    const double width = half ? 2 : 4;
    const double row =
        form == ResidualForm::kSparse ? 128 * (width + 2) : static_cast<double>(outputs) * width;
    return row * static_cast<double>(kNeighbors);
  }
};
constexpr Case kCases[] = {
    {"dense, 100 classes", 50000, 100, ResidualForm::kDense, false},
    {"dense, 1,000 classes", 50000, 1000, ResidualForm::kDense, false},
    {"dense float16, 1,000 classes", 50000, 1000, ResidualForm::kDense, true},
    {"sparse, 128 of 32,128", 50000, 32128, ResidualForm::kSparse, true},
    {"logits, 100 classes", 50000, 100, ResidualForm::kLogits, false},
};

Status Write(const Case& c, const SearchData& data, const std::string& path) {
  MemoryDescription description;
  description.dim = kDim;
  description.outputs = c.outputs;
  description.form = c.form;
  description.half_residuals = c.half;
  RESMEM_ASSIGN_OR_RETURN(MemoryWriter writer, MemoryWriter::Create(path, description, c.rows, {}));
  constexpr int64_t kTogether = 500;  // with the same logits, and other labels
  Random random(5);
  std::vector<float> logits(static_cast<size_t>(kTogether * c.outputs));
  for (float& logit : logits) logit = static_cast<float>(6 * random.Uniform());
  std::vector<int32_t> labels(static_cast<size_t>(kTogether));
  for (int64_t begin = 0; begin < c.rows; begin += kTogether) {
    for (int32_t& label : labels) {
      label = static_cast<int32_t>(random.Below(static_cast<uint64_t>(c.outputs)));
    }
    Rows rows;
    rows.keys = data.key_view().Slice(begin, kTogether);
    rows.logits = MatrixView(logits.data(), kTogether, c.outputs);
    rows.labels = labels;
    RESMEM_RETURN_IF_ERROR(writer.Add(rows));
  }
  return writer.Finish();
}

std::string Micros(double seconds) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f", seconds * 1e6);
  return text;
}

Status Measure(const Case& c, const SearchData& data, double bandwidth, const std::string& folder,
               std::ostream& out) {
  const std::string path = folder + "/memory";
  RESMEM_RETURN_IF_ERROR(Write(c, data, path));
  RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory, ResidualMemory::Open(path));
  SearchOptions options;
  options.k = kNeighbors;
  options.threads = 1;
  Neighbors neighbors;
  Status status;
  const Spread alone = Repeat([&](int64_t i) {
    status = memory.index().Search(data.query_view().Slice(i % kQueries, 1), options, &neighbors);
  });
  const Spread batch = Repeat(
      [&](int64_t) { status = memory.index().Search(data.query_view(), options, &neighbors); });
  RESMEM_RETURN_IF_ERROR(status);
  std::vector<float> sum(static_cast<size_t>(c.outputs)), scratch(sum.size());
  WeightedNeighbors weighted;
  const float temperature = memory.description().parameters.temperature;
  const Spread sums = Repeat([&](int64_t) {
    for (int64_t q = 0; q < kQueries; ++q) {
      WeighNeighbors(neighbors.rows_of(q), neighbors.distances_of(q), kNeighbors, 0.7f, &weighted);
      SumResiduals(memory, weighted, temperature, scratch, sum);
    }
  });
  const double one = sums.median / kQueries, together = batch.median / kQueries;
  char shares[64];
  std::snprintf(shares, sizeof(shares), "%.1f %% | %.1f %%", 100 * one / alone.median,
                100 * one / together);
  std::cerr << c.name << ": " << Micros(one) << " us\n";
  const double floor = c.bytes() / bandwidth;
  out << "| " << c.name << " | " << Micros(one) << " | " << Micros(floor) << " | "
      << Micros(alone.median) << " | " << Micros(together) << " | " << shares << " |\n";
  std::filesystem::remove_all(path);
  return Status();
}

int Run(const std::string& markdown) {
  std::ostringstream page;
  page << "# The residual sum, measured\n\nMade by `bench_residual_sum --markdown "
          "docs/measurements/residual_sum.md`. "
       << MachineLine() << ".\n\nMicroseconds a query, median, 1 thread, k = 50, 50,000 keys of 64 "
       << "floats. The sum: weights from distances, then\nthe weighted residuals of the 50 "
       << "neighbors added up. The floor: the bytes of their residuals at the speed of "
          "memory,\nwhich "
       << "no sum can go below unless they lie in a cache.\n\n| residuals | sum | floor | search "
          "alone | search in batches of 1,000 | "
       << "share of alone | share of batches |\n|---|---|---|---|---|---|---|\n";
  const std::string folder =
      (std::filesystem::temp_directory_path() / ("resmem_residual_sum_" + std::to_string(getpid())))
          .string();
  std::filesystem::create_directories(folder);
  const SearchData data = ClusteredData(50000, kDim, kQueries);
  const std::vector<float> large(size_t{1} << 27, 1.0f);  // more than any cache holds
  const double bandwidth = ReadBandwidth(large.data(), static_cast<int64_t>(large.size()), 1);
  Status status;
  for (const Case& c : kCases) {
    if (status.ok()) status = Measure(c, data, bandwidth, folder, page);
  }
  std::filesystem::remove_all(folder);
  if (!status.ok()) {
    std::cerr << status.message() << "\n";
    return 1;
  }
  return Publish(page.str(), markdown) ? 0 : 1;
}

}  // namespace
}  // namespace resmem::bench

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "--markdown") return resmem::bench::Run(argv[2]);
  if (argc == 1) return resmem::bench::Run("");
  std::cerr << "usage: bench_residual_sum [--markdown FILE]\n";
  return 2;
}
