// What the usual ways in Python need for the same search, timed back to back with ours.
#ifndef RESMEM_BENCH_SEARCH_PEERS_H_
#define RESMEM_BENCH_SEARCH_PEERS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "search_data.h"

namespace resmem::bench {

struct PeerTime {
  std::string name;  // "NumPy", "scikit-learn"
  int threads = 1;
  int64_t queries = 1;
  int64_t k = 1;
  double seconds = 0;  // median of the repetitions, for all queries together
};

// Runs search_peers.py with /usr/bin/python3.  Empty where Python or its libraries are missing.
std::vector<PeerTime> TimePeers(const SearchData& data);

}  // namespace resmem::bench

#endif  // RESMEM_BENCH_SEARCH_PEERS_H_
