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
  double goal = 0;  // approximate: the recall that the held-out queries were to find
  double build_seconds = 0;
  std::string setting;
};

struct PeerChoice {
  bool any = true;
  std::string only;  // those whose programs have this in their names
};

// Runs the programs of peers/ that were built, those in Python, and USearch where RESMEM_USEARCH
// names a folder with node_modules/usearch, on 1 and 2 threads.  `truth`, `held_out_truth`: the
// rows of the 50 nearest keys of each query.  Approximate where there are held-out queries: knobs
// are chosen on these, recall and times are of the others.  A peer that cannot run is missing, with
// a word on standard error.
std::vector<PeerTime> TimePeers(const SearchData& data, std::span<const int64_t> truth,
                                std::span<const int64_t> held_out_truth, const PeerChoice& choice);

// faiss on all keys of a memory, where RESMEM_FAISS_FOLDER names a folder that `peer_faiss_memory
// FOLDER 2 build` filled; else nothing.  Query q is row rows[q] of the memory.
std::vector<PeerTime> TimeMemoryPeer(MatrixView queries, std::span<const int64_t> rows,
                                     std::span<const int64_t> truth);

}  // namespace resmem::bench

#endif  // RESMEM_BENCH_SEARCH_PEERS_H_
