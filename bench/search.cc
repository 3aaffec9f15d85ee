// Exact search against its own specification, the machine's limits and the usual ways in Python.
//
//   bench_search [--markdown FILE] [--small | --large] [--no-peers]
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>

#include "machine_limits.h"
#include "measurement.h"
#include "resmem/knn_index.h"
#include "search/reference_search.h"
#include "search_data.h"
#include "search_peers.h"
#include "support/text.h"
#include "timing.h"

namespace resmem::bench {
namespace {

constexpr int64_t kBatch = 1000;

struct Flags {
  std::string markdown;
  bool small = false;  // the smallest data only
  bool large = false;  // the largest too
  bool peers = true;
};

// Answers are compared before any is timed: alone and in a batch, on 1 and 2 threads.
bool AnswersAreRight(const SearchData& data, const KnnIndex& index) {
  auto store = KeyStore::Make(
      data.dim, {{KeyType::kFloat32, data.keys.data(), nullptr, data.key_view().rows}}, {});
  SearchOptions options;
  options.k = 50;
  const MatrixView checked = data.query_view().Slice(0, 40);
  const Neighbors expected = ReferenceSearch(*store, checked, options);
  for (const int threads : {1, 2}) {
    for (const int64_t batch : {int64_t{1}, checked.rows}) {
      options.threads = threads;
      for (int64_t begin = 0; begin < checked.rows; begin += batch) {
        Neighbors found;
        if (!index.Search(checked.Slice(begin, batch), options, &found).ok()) return false;
        const auto rows = expected.rows.begin() + begin * options.k;
        const auto distances = expected.distances.begin() + begin * options.k;
        if (!std::equal(found.rows.begin(), found.rows.end(), rows) ||
            !std::equal(found.distances.begin(), found.distances.end(), distances)) {
          return false;
        }
      }
    }
  }
  return true;
}

// Seconds for `batch` queries.
Spread TimeSearch(const SearchData& data, const KnnIndex& index, int64_t batch, int64_t k,
                  int threads) {
  SearchOptions options;
  options.k = k;
  options.threads = threads;
  std::vector<double> seconds;
  double total = 0;
  Neighbors found;
  for (int64_t i = 0; seconds.size() < 3 || (total < 0.5 && seconds.size() < 200); ++i) {
    const int64_t first = batch == 1 ? i % data.query_view().rows : 0;
    const double start = SecondsNow();
    if (!index.Search(data.query_view().Slice(first, batch), options, &found).ok()) return {};
    seconds.push_back(SecondsNow() - start);
    total += seconds.back();
  }
  return SpreadOf(std::move(seconds));
}

std::string QueriesPerSecond(double queries, double seconds) {
  char text[32];
  std::snprintf(text, sizeof(text), queries / seconds < 100 ? "%.1f" : "%.0f", queries / seconds);
  return text;
}

std::string Percent(double share) {
  return Text(static_cast<int>(100 * share + 0.5), " %");
}

void WriteRow(const SearchData& data, int64_t batch, int64_t k, int threads, const Spread& time,
              double share, const std::vector<PeerTime>& peers, std::ostream& out) {
  const double queries = static_cast<double>(batch);
  out << "| " << data.name << " | " << batch << " | " << k << " | " << threads << " | "
      << QueriesPerSecond(queries, time.median) << " (" << QueriesPerSecond(queries, time.most)
      << "-" << QueriesPerSecond(queries, time.least) << ") | " << Percent(share) << " of "
      << (batch == 1 ? "bandwidth" : "arithmetic") << " |";
  for (const char* name : {"NumPy", "scikit-learn"}) {
    const auto peer = std::find_if(peers.begin(), peers.end(), [&](const PeerTime& p) {
      return p.name == name && p.threads == threads && p.queries == batch && p.k == k;
    });
    if (peer == peers.end()) {
      out << " not run |";
    } else {
      char ratio[32];
      std::snprintf(ratio, sizeof(ratio), " (x %.1f)", peer->seconds / time.median);
      out << " " << QueriesPerSecond(queries, peer->seconds) << ratio << " |";
    }
  }
  out << "\n" << std::flush;
}

bool Measure(const SearchData& data, const Flags& flags, std::ostream& out) {
  const int64_t rows = data.key_view().rows;
  auto index = MakeExactIndex(data.dim, {{KeyType::kFloat32, data.keys.data(), nullptr, rows}});
  if (!index.ok() || !AnswersAreRight(data, **index)) {
    std::cerr << data.name << ": the answers differ from the specification's\n";
    return false;
  }
  const std::vector<PeerTime> peers = flags.peers ? TimePeers(data) : std::vector<PeerTime>{};
  const double values = static_cast<double>(rows) * static_cast<double>(data.dim);
  // One query reads codes: a byte a value, 12 a key.
  const double coded_bytes = values + 12.0 * static_cast<double>(rows);
  for (const int threads : {1, 2}) {
    const double bandwidth = ReadBandwidth(data.keys.data(), rows * data.dim, threads);
    const double flops = PeakFlops(threads);
    for (const int64_t batch : {int64_t{1}, kBatch}) {
      for (const int64_t k : {10, 50}) {
        const Spread time = TimeSearch(data, **index, batch, k, threads);
        const double limit =
            batch == 1 ? coded_bytes / bandwidth : values * 2 * static_cast<double>(batch) / flops;
        WriteRow(data, batch, k, threads, time, limit / time.median, peers, out);
      }
    }
  }
  return true;
}

bool WriteFile(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) std::cerr << path << ": cannot be written\n";
  return static_cast<bool>(file);
}

int Run(const Flags& flags) {
  std::ostringstream table;
  table << "# Exact search, measured\n\n"
        << "Made by `bench_search --markdown docs/measurements/search.md`. " << MachineLine()
        << ".\n\n"
        << "Queries a second, median (slowest-fastest) of at least 3 repetitions; float32 keys. "
           "Each data set's\nanswers were first compared with the plain scan's, row for row and "
           "bit for bit. The limit is measured in\nthe same run: for one query the time to read "
           "the keys' 8-bit codes once, for a batch the time of the\nmultiplications and additions "
           "alone. "
           "In brackets behind a peer: how many times faster ours is.\n\n"
        << "| data | queries | k | threads | ours | share of the limit | NumPy | scikit-learn |\n"
        << "|---|---|---|---|---|---|---|---|\n";
  std::cout << table.str() << std::flush;
  bool right = true;
  const auto measure = [&](const SearchData& data) {
    std::ostringstream rows;
    right = Measure(data, flags, rows) && right;
    std::cout << rows.str() << std::flush;
    table << rows.str();
  };
  measure(ClusteredData(50000, 64, kBatch));
  if (!flags.small) {
    if (const auto fashion = FashionMnistData(kBatch)) measure(*fashion);
    measure(ClusteredData(100000, 1280, kBatch));
  }
  if (flags.large) measure(ClusteredData(1000000, 128, kBatch));
  if (!flags.markdown.empty() && !WriteFile(flags.markdown, table.str())) return 1;
  return right ? 0 : 5;
}

}  // namespace
}  // namespace resmem::bench

int main(int argc, char** argv) {
  resmem::bench::Flags flags;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--markdown" && i + 1 < argc) {
      flags.markdown = argv[++i];
    } else if (flag == "--small") {
      flags.small = true;
    } else if (flag == "--large") {
      flags.large = true;
    } else if (flag == "--no-peers") {
      flags.peers = false;
    } else {
      std::cerr << "usage: bench_search [--markdown FILE] [--small | --large] [--no-peers]\n";
      return 2;
    }
  }
  return resmem::bench::Run(flags);
}
