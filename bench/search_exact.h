// Exact search on one data set: compared with its specification, then timed beside the peers.
#ifndef RESMEM_BENCH_SEARCH_EXACT_H_
#define RESMEM_BENCH_SEARCH_EXACT_H_

#include <ostream>
#include <string>
#include <vector>

#include "search_data.h"
#include "search_peers.h"
#include "timing.h"

namespace resmem::bench {

// Queries of each data set whose answers are compared with the specification's: out of a batch of
// all and alone, on 1 and 2 threads, k = 10 and 50, at every level.
inline constexpr int64_t kComparedQueries = 40;

struct OurTime {
  std::string level;  // of RESMEM_SIMD
  int threads = 1;
  int64_t queries = 1;
  int64_t k = 1;
  Spread seconds;    // for all queries together
  double limit = 0;  // seconds that the machine needs at least
};

struct ExactTimes {
  std::string data;
  bool right = false;  // nothing was timed where the answers are wrong
  std::vector<OurTime> ours;
  std::vector<PeerTime> peers;
};

// One query and all of them, k = 10 and 50, on 1 and 2 threads; batches at every instruction set
// from AVX-512 up.  Requires kComparedQueries queries, or more.
ExactTimes TimeExact(const SearchData& data, const PeerChoice& peers, int turns);

void WriteExactTable(const std::vector<ExactTimes>& all, std::ostream& out);

// How many times faster ours is than each peer, least of k = 10 and 50.
void WriteRatios(const std::vector<ExactTimes>& all, std::ostream& out);

}  // namespace resmem::bench

#endif  // RESMEM_BENCH_SEARCH_EXACT_H_
