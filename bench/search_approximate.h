// Approximate search on one data set: k = 50, for a recall of 0.95 and of 0.99, beside the peers.
#ifndef RESMEM_BENCH_SEARCH_APPROXIMATE_H_
#define RESMEM_BENCH_SEARCH_APPROXIMATE_H_

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "resmem/status.h"
#include "search_data.h"
#include "search_peers.h"

namespace resmem::bench {

struct ApproximateTimes {
  std::string data;
  std::vector<PeerTime> ours, peers;
};

// One query and all of them, on 1 and 2 threads, none of which is a key.  Requires held-out
// queries: ours and the peers' knobs are chosen on these.  Recall is the share of the true 50 in
// answers to the others.  `code_bits`: of our index, if not its own choice.
Result<ApproximateTimes> TimeApproximate(const SearchData& data, std::optional<int> code_bits,
                                         const PeerChoice& peers);

// A memory that has an index, as it lies on the disk: its index and exact search, asked with 1,000
// of its own rows, each without itself.  More memories: the same rows with other indexes.
Result<ApproximateTimes> TimeIndexedMemory(const std::string& name,
                                           const std::vector<std::string>& paths,
                                           const PeerChoice& peers);

void WriteApproximateTable(const std::vector<ApproximateTimes>& all, std::ostream& out);

// How many times faster ours is than the fastest peer; of each side the fastest counts whose knob
// was chosen for the recall, or for more, with the recall that it then found.  Exact searches,
// which have no knob, count for every recall.
void WriteApproximateRatios(const std::vector<ApproximateTimes>& all, std::ostream& out);

}  // namespace resmem::bench

#endif  // RESMEM_BENCH_SEARCH_APPROXIMATE_H_
