// What others need for the same search, timed back to back with ours on the same data.
#ifndef RESMEM_BENCH_SEARCH_PEERS_H_
#define RESMEM_BENCH_SEARCH_PEERS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "search_data.h"

namespace resmem::bench {

struct PeerTime {
  std::string name;  // "faiss (Debian)", "hnswlib", "scikit-learn", ...
  int threads = 1;
  int64_t queries = 1;
  int64_t k = 1;
  double seconds = 0;  // median of the repetitions, for all queries together
  double recall = 0;
  double goal = 0;  // the recall that the held-out queries were to find; exact search: 1
  double build_seconds = 0;
  std::string setting;

  // On any number of threads.
  bool IsSameSearch(const PeerTime& other) const {
    return name == other.name && queries == other.queries && k == other.k && goal == other.goal &&
           setting == other.setting;
  }
};

struct PeerChoice {
  bool any = true;
  std::string only;  // those whose programs have this in their names
};

// Of both functions below, for their pages.
inline constexpr char kThreadsOfPeers[] =
    "Where 2 threads are allowed, a peer's time is the better of its times on 2 threads and on 1; "
    "ours is always that on 2.";

// Runs the programs of peers/ that were built, those in Python, and USearch where RESMEM_USEARCH
// names a folder with node_modules/usearch, on 1 and 2 threads.  `truth`, `held_out_truth`: the
// rows of the 50 nearest keys of each query.  Approximate where there are held-out queries: knobs
// are chosen on these, recall and times are of the others; the flat indexes of faiss are timed too.
// A peer that cannot run is missing, with a word on standard error.
std::vector<PeerTime> TimePeers(const SearchData& data, std::span<const int64_t> truth,
                                std::span<const int64_t> held_out_truth, const PeerChoice& choice);

// faiss on all keys of a memory, where RESMEM_FAISS_FOLDER names a folder that `peer_faiss_memory
// FOLDER 2 build` filled; else nothing.  Query q is row rows[q] of the memory.
std::vector<PeerTime> TimeMemoryPeer(MatrixView queries, std::span<const int64_t> rows,
                                     std::span<const int64_t> truth);

}  // namespace resmem::bench

#endif  // RESMEM_BENCH_SEARCH_PEERS_H_
