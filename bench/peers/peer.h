// What a program that times somebody else's search shares with its siblings.
//
//   PEER FOLDER THREADS exact|approximate
// FOLDER holds keys.npy, queries.npy and truth.npy (the rows of the 50 nearest keys of each query,
// one after another), for approximate search also held_out.npy and held_out_truth.npy; without
// these, knobs are chosen on the queries that are timed.  Prints lines of fields with tabs between
// them, as search_peers.h reads them:
//   name  threads  queries  k  seconds  recall  goal  build seconds  setting
// The goal of exact search is 1: it reaches every recall.
// An approximate index is built once, by THREADS, and asked by 1, 2, ... THREADS.
#ifndef RESMEM_BENCH_PEERS_PEER_H_
#define RESMEM_BENCH_PEERS_PEER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace resmem::bench {

struct PeerQueries {
  int64_t count = 0;
  std::vector<float> values;
  std::vector<int64_t> truth;
};

struct PeerData {
  int64_t rows = 0, dim = 0;
  std::vector<float> key_values;
  PeerQueries queries, held_out;  // timed; that a knob is chosen on
  int threads = 1;
  bool approximate = false;
};

// Ends the program, with a word why, where the arguments or the files are no good.
PeerData LoadPeerData(int argc, char** argv);  // without keys where there is no keys.npy
std::vector<int64_t> LoadRows(const std::string& path);

// Writes the `k` nearest rows of each of `count` queries.
using PeerSearch =
    std::function<void(const float* queries, int64_t count, int64_t k, int threads, int64_t* rows)>;

// One query and all of them, k = 10 and 50.
void ReportExact(const PeerData& data, const std::string& name, const PeerSearch& search);

// A knob by which recall is bought with time, from the cheapest position to the dearest.
struct PeerSetting {
  std::string name;
  std::function<void()> set;
};
// k = 50, at the cheapest setting by which the held-out queries find 0.95, and 0.99; nothing where
// none does.  Recall and times are of the others.
void ReportApproximate(const PeerData& data, const std::string& name, double build_seconds,
                       const std::vector<PeerSetting>& settings, const PeerSearch& search);

}  // namespace resmem::bench

#endif  // RESMEM_BENCH_PEERS_PEER_H_
