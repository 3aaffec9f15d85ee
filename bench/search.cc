// Search against its own specification, the machine's limits and other people's libraries.
#include <iostream>
#include <sstream>
#include <utility>

#include "measurement.h"
#include "search_approximate.h"
#include "search_data.h"
#include "search_exact.h"

namespace resmem::bench {
namespace {

constexpr int64_t kBatch = 1000;
constexpr char kUsage[] =
    "usage: bench_search [--approximate] [--markdown FILE] [--small | --large] [--no-peers]\n"
    "                    [--arrays NAME KEYS.npy QUERIES.npy]...\n"
    "--small: 50,000 x 64 only; --large: 1,000,000 x 128 too\n";

struct Arrays {
  std::string name, keys, queries;
};

struct Flags {
  std::string markdown;
  bool approximate = false;
  bool small = false;
  bool large = false;
  bool peers = true;
  std::vector<Arrays> arrays;
};

std::string Introduction() {
  return "# Search, measured\n\nMade by `bench_search`. " + MachineLine() +
         ".\n\n## Exact\n\nQueries a second, median (slowest-fastest) of at least 3 repetitions; "
         "float32 keys. On each data set the\nanswers were first compared with the plain scan's, "
         "row for row and bit for bit. The limit is measured in the\nsame run: for one query the "
         "time to read the keys' 8-bit codes once, for a batch the time of the products\nalone, in "
         "the arithmetic of the level (bf16 tiles for amx, float32 otherwise).\n\n";
}

int Run(const Flags& flags) {
  std::vector<ExactTimes> all;
  bool right = true;
  const auto measure = [&](const SearchData& data) {
    std::cerr << data.name << "\n";
    all.push_back(TimeExact(data, flags.peers));
    if (all.back().right) return;
    std::cerr << data.name << ": the answers differ from the specification's\n";
    right = false;
  };
  measure(ClusteredData(50000, 64, kBatch));
  if (!flags.small) {
    measure(UniformData(50000, 64, kBatch));
    if (const auto fashion = FashionMnistData(kBatch)) measure(*fashion);
    measure(ClusteredData(100000, 1280, kBatch));
  }
  if (flags.large) measure(ClusteredData(1000000, 128, kBatch));
  for (const Arrays& arrays : flags.arrays) {
    const auto data = ArrayData(arrays.name, arrays.keys, arrays.queries, kBatch);
    if (!data) {
      std::cerr << arrays.keys << " and " << arrays.queries << ": cannot be read\n";
      return 3;
    }
    measure(*data);
  }
  std::ostringstream page;
  page << Introduction();
  WriteExactTable(all, page);
  if (flags.peers) {
    page << "\nHow many times faster ours is, the lesser of k = 10 and k = 50:\n\n";
    WriteRatios(all, page);
  }
  return Publish(page.str(), flags.markdown) && right ? 0 : 5;
}

int RunApproximate(const Flags& flags) {
  std::vector<ApproximateTimes> all;
  const auto measure = [&](const SearchData& data) {
    std::cerr << data.name << "\n";
    auto times = TimeApproximate(data, flags.peers);
    if (times.ok()) {
      all.push_back(std::move(times).value());
    } else {
      std::cerr << data.name << ": " << times.status().message() << "\n";
    }
    return times.ok();
  };
  bool done = measure(ClusteredData(flags.small ? 50000 : 200000, 64, kBatch));
  if (!flags.small) {
    done = measure(UniformData(100000, 64, kBatch)) && done;
    if (const auto fashion = FashionMnistData(kBatch)) done = measure(*fashion) && done;
  }
  if (flags.large) done = measure(ClusteredData(1000000, 128, kBatch)) && done;
  for (const Arrays& arrays : flags.arrays) {
    const auto data = ArrayData(arrays.name, arrays.keys, arrays.queries, kBatch);
    if (!data) {
      std::cerr << arrays.keys << " and " << arrays.queries << ": cannot be read\n";
      return 3;
    }
    done = measure(*data) && done;
  }
  std::ostringstream page;
  page << "# Search, measured\n\nMade by `bench_search --approximate`. " << MachineLine()
       << ".\n\n## Approximate\n\nFloat32 keys, k = 50, recall on " << kBatch
       << " queries that are not keys; wall time, median of at least 3 repetitions. A peer's knob "
          "is turned up until\nthe recall is reached; ours is set by `resmem index --recall`.\n\n";
  WriteApproximateRatios(all, page);
  page << "\nEverything that was timed:\n\n";
  WriteApproximateTable(all, page);
  return Publish(page.str(), flags.markdown) && done ? 0 : 5;
}

}  // namespace
}  // namespace resmem::bench

int main(int argc, char** argv) {
  resmem::bench::Flags flags;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--markdown" && i + 1 < argc) {
      flags.markdown = argv[++i];
    } else if (flag == "--arrays" && i + 3 < argc) {
      flags.arrays.push_back({argv[i + 1], argv[i + 2], argv[i + 3]});
      i += 3;
    } else if (flag == "--approximate") {
      flags.approximate = true;
    } else if (flag == "--small") {
      flags.small = true;
    } else if (flag == "--large") {
      flags.large = true;
    } else if (flag == "--no-peers") {
      flags.peers = false;
    } else {
      std::cerr << resmem::bench::kUsage;
      return 2;
    }
  }
  return flags.approximate ? resmem::bench::RunApproximate(flags) : resmem::bench::Run(flags);
}
