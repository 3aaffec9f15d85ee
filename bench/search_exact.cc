#include "search_exact.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>

#include "kernels/simd_level.h"
#include "machine_limits.h"
#include "resmem/knn_index.h"
#include "resmem_program/simd.h"
#include "search/exact/reference_search.h"
#include "support/text.h"

namespace resmem::bench {
namespace {

constexpr int64_t kMostNeighbors = 50;

std::unique_ptr<KnnIndex> IndexOf(const SearchData& data) {
  auto index = MakeExactIndex(
      data.dim, {{KeyType::kFloat32, data.keys.data(), nullptr, data.key_view().rows}});
  if (!index.ok()) return nullptr;
  return std::move(index).value();
}

std::vector<std::string> TimedLevels() {
  std::vector<std::string> levels = SimdNamesAvailable();
  const auto last = std::find(levels.begin(), levels.end(), "avx512");
  if (last != levels.end()) levels.erase(last + 1, levels.end());
  return levels;
}

// Spread over all queries: from one to the next is the stride.
MatrixView ComparedQueries(const SearchData& data) {
  MatrixView compared = data.query_view();
  compared.stride *= compared.rows / kComparedQueries;
  compared.rows = kComparedQueries;
  return compared;
}

// Of ComparedQueries(); the nearest 10 are the first of the nearest 50.
Neighbors ExpectedAnswers(const SearchData& data) {
  const auto store = KeyStore::Make(
      data.dim, {{KeyType::kFloat32, data.keys.data(), nullptr, data.key_view().rows}}, {});
  SearchOptions options;
  options.k = kMostNeighbors;
  return ReferenceSearch(*store, ComparedQueries(data), options);
}

bool AnswersAreRight(const SearchData& data, const KnnIndex& index, const Neighbors& expected) {
  const MatrixView all = data.query_view(), compared = ComparedQueries(data);
  SearchOptions options;
  Neighbors found;
  const auto ask = [&](MatrixView queries) { return index.Search(queries, options, &found).ok(); };
  const auto right = [&](int64_t place, int64_t q) {
    const auto rows = found.rows_of(place);
    const auto distances = found.distances_of(place);
    return std::equal(rows.begin(), rows.end(), expected.rows_of(q).begin()) &&
           std::equal(distances.begin(), distances.end(), expected.distances_of(q).begin());
  };
  // Codes and rounded keys are made once queries have shown that they pay; what is timed has them.
  if (!ask(all)) return false;
  for (int64_t q = 0; q < compared.rows; ++q) {
    if (!ask(compared.Slice(q, 1))) return false;
  }
  for (const int threads : {1, 2}) {
    for (const int64_t k : {int64_t{10}, kMostNeighbors}) {
      options.threads = threads;
      options.k = k;
      if (!ask(all)) return false;
      for (int64_t q = 0; q < compared.rows; ++q) {
        if (!right(q * (compared.stride / all.stride), q)) return false;
      }
      for (int64_t q = 0; q < compared.rows; ++q) {
        if (!ask(compared.Slice(q, 1)) || !right(0, q)) return false;
      }
    }
  }
  return true;
}

Spread TimeSearch(const SearchData& data, const KnnIndex& index, int64_t batch, int64_t k,
                  int threads) {
  SearchOptions options;
  options.k = k;
  options.threads = threads;
  Neighbors found;
  return Repeat([&](int64_t i) {
    const int64_t first = batch == 1 ? i % data.query_view().rows : 0;
    if (!index.Search(data.query_view().Slice(first, batch), options, &found).ok()) std::abort();
  });
}

std::string QueriesPerSecond(double queries, double seconds) {
  char text[32];
  std::snprintf(text, sizeof(text), queries / seconds < 100 ? "%.1f" : "%.0f", queries / seconds);
  return text;
}

std::vector<std::string> PeerNames(const std::vector<ExactTimes>& all) {
  std::vector<std::string> names;
  for (const ExactTimes& times : all) {
    for (const PeerTime& peer : times.peers) {
      if (std::find(names.begin(), names.end(), peer.name) == names.end()) {
        names.push_back(peer.name);
      }
    }
  }
  return names;
}

const PeerTime* Find(const ExactTimes& times, const OurTime& ours, const std::string& name) {
  const auto peer = std::find_if(times.peers.begin(), times.peers.end(), [&](const PeerTime& p) {
    return p.name == name && p.threads == ours.threads && p.queries == ours.queries &&
           p.k == ours.k;
  });
  return peer == times.peers.end() ? nullptr : &*peer;
}

ExactTimes TimeOnce(const SearchData& data, const Neighbors& expected, const PeerChoice& peers) {
  ExactTimes times;
  times.data = data.name;
  const int64_t rows = data.key_view().rows, batch = data.query_view().rows;
  const double values = static_cast<double>(rows) * static_cast<double>(data.dim);
  // One query reads codes: a byte a value, a scale and a norm a key.
  const double coded_bytes = values + 8.0 * static_cast<double>(rows);
  std::vector<int64_t> truth;
  for (const std::string& name : TimedLevels()) {
    const ScopedSimdLevel level(name);
    const std::unique_ptr<KnnIndex> index = IndexOf(data);
    if (index == nullptr || !AnswersAreRight(data, *index, expected)) return times;
    const bool best = name == TimedLevels().front();
    if (best && peers.any) {
      SearchOptions options;
      options.k = kMostNeighbors;
      Neighbors found;
      if (!index->Search(data.query_view(), options, &found).ok()) return times;
      truth = std::move(found.rows);
    }
    for (const int threads : {1, 2}) {
      const double bandwidth = ReadBandwidth(data.keys.data(), rows * data.dim, threads);
      const double flops = PeakFlops(threads, name == "amx");
      for (const int64_t queries : {int64_t{1}, batch}) {
        if (queries == 1 && !best) continue;  // tiles are for batches
        const double limit = queries == 1 ? coded_bytes / bandwidth
                                          : 2 * values * static_cast<double>(queries) / flops;
        for (const int64_t k : {int64_t{10}, kMostNeighbors}) {
          times.ours.push_back(
              {name, threads, queries, k, TimeSearch(data, *index, queries, k, threads), limit});
        }
      }
    }
  }
  if (peers.any) times.peers = TimePeers(data, truth, {}, peers);
  times.right = true;
  return times;
}

}  // namespace

ExactTimes TimeExact(const SearchData& data, const PeerChoice& peers, int turns) {
  const Neighbors expected = ExpectedAnswers(data);
  ExactTimes best = TimeOnce(data, expected, peers);
  // The machine may be slower for a while when others work on it: ours and the peers in turns, and
  // of each the better of its turns.
  for (int turn = 1; turn < turns && best.right; ++turn) {
    const ExactTimes again = TimeOnce(data, expected, peers);
    best.right = again.right;
    for (size_t i = 0; i < std::min(best.ours.size(), again.ours.size()); ++i) {
      OurTime& ours = best.ours[i];
      if (again.ours[i].seconds.median < ours.seconds.median) ours.seconds = again.ours[i].seconds;
      ours.limit = std::min(ours.limit, again.ours[i].limit);
    }
    for (const PeerTime& peer : again.peers) {
      const auto before = std::find_if(
          best.peers.begin(), best.peers.end(),
          [&](const PeerTime& p) { return p.threads == peer.threads && p.IsSameSearch(peer); });
      if (before == best.peers.end()) {
        best.peers.push_back(peer);  // it failed in the turns before
      } else {
        before->seconds = std::min(before->seconds, peer.seconds);
      }
    }
  }
  return best;
}

void WriteExactTable(const std::vector<ExactTimes>& all, std::ostream& out) {
  const std::vector<std::string> names = PeerNames(all);
  out << "| data | queries | k | threads | level | ours | share of the limit |";
  for (const std::string& name : names) out << " " << name << " |";
  out << "\n|---|---|---|---|---|---|---|";
  for (size_t i = 0; i < names.size(); ++i) out << "---|";
  out << "\n";
  for (const ExactTimes& times : all) {
    for (const OurTime& ours : times.ours) {
      const double queries = static_cast<double>(ours.queries);
      out << "| " << times.data << " | " << ours.queries << " | " << ours.k << " | " << ours.threads
          << " | " << ours.level << " | " << QueriesPerSecond(queries, ours.seconds.median) << " ("
          << QueriesPerSecond(queries, ours.seconds.most) << "-"
          << QueriesPerSecond(queries, ours.seconds.least) << ") | "
          << static_cast<int>(100 * ours.limit / ours.seconds.median + 0.5) << " % of "
          << (ours.queries == 1 ? "bandwidth" : "arithmetic") << " |";
      for (const std::string& name : names) {
        const PeerTime* peer = Find(times, ours, name);
        out << " " << (peer == nullptr ? "-" : QueriesPerSecond(queries, peer->seconds)) << " |";
      }
      out << "\n";
    }
  }
}

void WriteRatios(const std::vector<ExactTimes>& all, std::ostream& out) {
  const std::vector<std::string> names = PeerNames(all);
  if (names.empty()) return;
  out << "| data | queries | threads | level |";
  for (const std::string& name : names) out << " x " << name << " |";
  out << "\n|---|---|---|---|";
  for (size_t i = 0; i < names.size(); ++i) out << "---|";
  out << "\n";
  for (const ExactTimes& times : all) {
    for (const OurTime& ours : times.ours) {
      if (ours.k != kMostNeighbors) continue;
      out << "| " << times.data << " | " << ours.queries << " | " << ours.threads << " | "
          << ours.level << " |";
      for (const std::string& name : names) {
        double least = std::numeric_limits<double>::infinity();
        for (const OurTime& other : times.ours) {
          if (other.level != ours.level || other.threads != ours.threads ||
              other.queries != ours.queries) {
            continue;
          }
          const PeerTime* peer = Find(times, other, name);
          if (peer != nullptr) least = std::min(least, peer->seconds / other.seconds.median);
        }
        char ratio[32] = "-";
        if (least < 1e30) std::snprintf(ratio, sizeof(ratio), "%.1f", least);
        out << " " << ratio << " |";
      }
      out << "\n";
    }
  }
}

}  // namespace resmem::bench
