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
  double build_seconds = 0;
  std::string setting;
};

struct PeerChoice {
  bool any = true;
  std::string only;  // those whose programs have this in their names
};

// Runs the programs of peers/ that were built, those in Python, and USearch where RESMEM_USEARCH
// names a folder with node_modules/usearch, on 1 and 2 threads.  `truth`:
// the rows of the 50 nearest keys of each query.  A peer that cannot run is missing, with a word on
// standard error.
std::vector<PeerTime> TimePeers(const SearchData& data, std::span<const int64_t> truth,
                                const PeerChoice& choice, bool approximate);

}  // namespace resmem::bench

#endif  // RESMEM_BENCH_SEARCH_PEERS_H_
