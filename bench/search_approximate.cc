#include "search_approximate.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "bench_memory.h"
#include "resmem/residual_memory.h"
#include "support/text.h"
#include "timing.h"

namespace resmem::bench {
namespace {

constexpr int64_t kNeighbors = 50;
constexpr double kRecalls[] = {0.95, 0.99};

double RecallOf(const Neighbors& truth, const Neighbors& found) {
  int64_t right = 0;
  for (int64_t q = 0; q < truth.queries; ++q) {
    const auto known = truth.rows_of(q);
    for (const int64_t row : found.rows_of(q)) {
      right += std::find(known.begin(), known.end(), row) != known.end() ? 1 : 0;
    }
  }
  return static_cast<double>(right) / static_cast<double>(truth.queries * truth.k);
}

// One query and all of them, on 1 and 2 threads.  exclude[q] is no neighbor of query q; may be
// empty.
Status TimeOurs(const KnnIndex& index, const Neighbors& truth, MatrixView queries,
                std::span<const int64_t> exclude, PeerTime time, std::vector<PeerTime>* times) {
  SearchOptions options;
  options.k = time.k = kNeighbors;
  options.exclude = exclude;
  Neighbors found;
  RESMEM_RETURN_IF_ERROR(index.Search(queries, options, &found));
  time.recall = RecallOf(truth, found);
  for (const int threads : {1, 2}) {
    options.threads = time.threads = threads;
    for (const int64_t count : {int64_t{1}, queries.rows}) {
      time.queries = count;
      time.seconds = Repeat([&](int64_t i) {
                       const int64_t first = count == 1 ? i % queries.rows : 0;
                       if (!exclude.empty()) options.exclude = exclude.subspan(first, count);
                       const MatrixView some = queries.Slice(first, count);
                       if (!index.Search(some, options, &found).ok()) std::abort();
                     }).median;
      times->push_back(time);
    }
  }
  return {};
}

// Exact searches are timed with fewer neighbors too.
std::vector<PeerTime> OfAsManyNeighbors(std::vector<PeerTime> times) {
  std::erase_if(times, [](const PeerTime& time) { return time.k != kNeighbors; });
  return times;
}

std::string Number(double value, const char* form) {
  char text[32];
  std::snprintf(text, sizeof(text), form, value);
  return text;
}

double MicrosecondsAQuery(const PeerTime& time) {
  return 1e6 * time.seconds / static_cast<double>(time.queries);
}

const PeerTime* Fastest(const std::vector<PeerTime>& times, double goal, int threads, bool alone) {
  const PeerTime* fastest = nullptr;
  for (const PeerTime& time : times) {
    if (time.goal < goal || time.threads != threads || (time.queries == 1) != alone) continue;
    if (fastest == nullptr || time.seconds < fastest->seconds) fastest = &time;
  }
  return fastest;
}

}  // namespace

Result<ApproximateTimes> TimeApproximate(const SearchData& data, std::optional<int> code_bits,
                                         const PeerChoice& peers) {
  ApproximateTimes times;
  times.data = data.name;
  const ScratchFolder folder;
  RESMEM_RETURN_IF_ERROR(WriteBenchMemory(folder.path(), data, KeyType::kFloat32, kNeighbors));
  Neighbors truth, held_out_truth;
  for (const double recall : kRecalls) {
    PeerTime time;
    time.name = "resmem";
    time.goal = recall;
    const double start = SecondsNow();
    RESMEM_RETURN_IF_ERROR(
        IndexMemory(folder.path(),
                    {.recall = recall, .code_bits = code_bits, .queries = data.held_out_view()}));
    time.build_seconds = SecondsNow() - start;
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory,
                            ResidualMemory::Open(folder.path(), {.verify_blocks = false}));
    if (truth.queries == 0) {
      SearchOptions options;
      options.k = kNeighbors;
      RESMEM_RETURN_IF_ERROR(memory.exact_index().Search(data.query_view(), options, &truth));
      RESMEM_RETURN_IF_ERROR(
          memory.exact_index().Search(data.held_out_view(), options, &held_out_truth));
    }
    const double bytes = static_cast<double>(memory.index_info()->bytes);
    time.setting =
        Text("asked ", recall, ", ", Number(bytes / static_cast<double>(memory.rows()), "%.0f"),
             " bytes a key beside the keys");
    RESMEM_RETURN_IF_ERROR(
        TimeOurs(memory.index(), truth, data.query_view(), {}, time, &times.ours));
  }
  if (peers.any) {
    times.peers = OfAsManyNeighbors(TimePeers(data, truth.rows, held_out_truth.rows, peers));
  }
  return times;
}

Result<ApproximateTimes> TimeIndexedMemory(const std::string& name,
                                           const std::vector<std::string>& paths,
                                           const PeerChoice& peers) {
  constexpr int64_t kQueries = 1000;
  ApproximateTimes times;
  std::vector<int64_t> rows;
  std::vector<float> keys;
  SearchOptions options;
  options.k = kNeighbors;
  Neighbors truth;
  for (const std::string& path : paths) {
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory,
                            ResidualMemory::Open(path, {.verify_blocks = false}));
    if (!memory.index_info() || memory.rows() < memory.capacity() || memory.rows() < kQueries) {
      return Status(ErrorCode::kInvalidArgument, "a memory with an index, without deleted rows");
    }
    const int64_t dim = memory.description().dim;
    const bool first = path == paths.front();
    if (first) {
      times.data = Text(name, " ", memory.rows(), " x ", dim);
      keys.resize(static_cast<size_t>(kQueries * dim));
      for (int64_t q = 0; q < kQueries; ++q) {
        rows.push_back(q * (memory.rows() / kQueries));
        memory.DecodeKey(rows.back(), std::span(keys).subspan(static_cast<size_t>(q * dim),
                                                              static_cast<size_t>(dim)));
      }
      options.exclude = rows;
    }
    const MatrixView queries(keys.data(), kQueries, dim);
    PeerTime time;
    if (first) {
      RESMEM_RETURN_IF_ERROR(memory.exact_index().Search(queries, options, &truth));
      time.name = "resmem, exact";
      time.setting = "-";
      time.goal = 1;
      RESMEM_RETURN_IF_ERROR(
          TimeOurs(memory.exact_index(), truth, queries, rows, time, &times.ours));
    }
    const double bytes = static_cast<double>(memory.index_info()->bytes);
    time.name = "resmem";
    time.goal = memory.index_info()->recall;
    time.setting =
        Text("asked ", time.goal, ", ", Number(bytes / static_cast<double>(memory.rows()), "%.0f"),
             " bytes a key beside the keys");
    RESMEM_RETURN_IF_ERROR(TimeOurs(memory.index(), truth, queries, rows, time, &times.ours));
  }
  if (peers.any) {
    const auto dim = static_cast<int64_t>(keys.size()) / kQueries;
    times.peers =
        OfAsManyNeighbors(TimeMemoryPeer(MatrixView(keys.data(), kQueries, dim), rows, truth.rows));
  }
  return times;
}

void WriteApproximateTable(const std::vector<ApproximateTimes>& all, std::ostream& out) {
  out << "| data | search | setting | recall | build, s | threads | queries | us a query |\n"
         "|---|---|---|---|---|---|---|---|\n";
  for (const ApproximateTimes& times : all) {
    for (const auto* side : {&times.ours, &times.peers}) {
      for (const PeerTime& time : *side) {
        out << "| " << times.data << " | " << time.name << " | " << time.setting << " | "
            << Number(time.recall, "%.4f") << " | " << Number(time.build_seconds, "%.1f") << " | "
            << time.threads << " | " << time.queries << " | "
            << Number(MicrosecondsAQuery(time), "%.1f") << " |\n";
      }
    }
  }
}

void WriteApproximateRatios(const std::vector<ApproximateTimes>& all, std::ostream& out) {
  const auto microseconds = [](const PeerTime* time) {
    return time == nullptr ? std::string("-") : Number(MicrosecondsAQuery(*time), "%.1f");
  };
  const auto found = [](const PeerTime* time) {
    return time == nullptr ? std::string("-") : Number(time->recall, "%.4f");
  };
  out << "| data | recall asked | threads | queries | ours, us | ours, recall | best peer, us | "
         "best "
         "peer, recall | peer | ratio |\n|---|---|---|---|---|---|---|---|---|---|\n";
  for (const ApproximateTimes& times : all) {
    if (times.peers.empty()) continue;
    for (const double recall : kRecalls) {
      for (const int threads : {1, 2}) {
        for (const bool alone : {true, false}) {
          const PeerTime* ours = Fastest(times.ours, recall, threads, alone);
          const PeerTime* peer = Fastest(times.peers, recall, threads, alone);
          out << "| " << times.data << " | " << recall << " | " << threads << " | "
              << (alone ? "one" : "batch") << " | " << microseconds(ours) << " | " << found(ours)
              << " | " << microseconds(peer) << " | " << found(peer) << " | "
              << (peer == nullptr ? "none reaches it" : peer->name + ", " + peer->setting) << " | "
              << (ours == nullptr || peer == nullptr
                      ? "-"
                      : Number(peer->seconds / ours->seconds, "%.2f"))
              << " |\n";
        }
      }
    }
  }
}

}  // namespace resmem::bench
