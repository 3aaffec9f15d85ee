#include "search_peers.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <sstream>

#include "resmem/data/array.h"
#include "support/text.h"

namespace resmem::bench {
namespace {

// What a command prints; empty where it fails.
std::string OutputOf(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "";
  std::string output;
  char piece[4096];
  for (size_t n; (n = fread(piece, 1, sizeof(piece), pipe)) > 0;) output.append(piece, n);
  return pclose(pipe) == 0 ? output : "";
}

std::filesystem::path ProgramFolder() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
}

struct Peer {
  std::string command;
  bool exact, approximate;  // what it is asked for
};

// The programs beside this one, as CMake built them.
std::vector<Peer> Peers(bool approximate) {
  std::vector<Peer> peers;
  if (!approximate) {
    peers.push_back({"/usr/bin/python3 '" RESMEM_SOURCE_FOLDER "/bench/peers/python_peer.py'",
                     /*exact=*/true, /*approximate=*/false});
  }
  std::error_code error;
  const auto folder = ProgramFolder();
  const auto built = [&](const char* name) {
    return std::filesystem::exists(folder / name, error);
  };
  for (const char* name : {"peer_hnswlib", "peer_faiss", "peer_faiss_avx512"}) {
    if (!built(name)) continue;
    // Our index may choose to leave no key out; then its rival is the fastest exact search.
    const bool exact = !approximate || name != std::string_view("peer_hnswlib");
    // Two graphs of the same faiss would only take twice as long to build.
    const bool slower = name == std::string_view("peer_faiss") && built("peer_faiss_avx512");
    peers.push_back({"'" + (folder / name).string() + "'", exact, approximate && !slower});
  }
  // A graph only, and only where the user has it: npm install usearch.
  const char* usearch = std::getenv("RESMEM_USEARCH");
  if (approximate && usearch != nullptr) {
    peers.push_back({Text("NODE_PATH='", usearch, "/node_modules' node '", RESMEM_SOURCE_FOLDER,
                          "/bench/peers/usearch_peer.cjs'"),
                     /*exact=*/false, /*approximate=*/true});
  }
  return peers;
}

void RunProgram(const std::string& command, const std::string& folder, int threads,
                bool approximate, std::vector<PeerTime>* times) {
  // Debian's OpenBLAS takes this processor for an old one unless it is told; waiting threads that
  // spin would slow the peers down on a busy machine.
  const std::string environment =
      Text("OPENBLAS_CORETYPE=SkylakeX OMP_WAIT_POLICY=PASSIVE OPENBLAS_NUM_THREADS=", threads,
           " OMP_NUM_THREADS=", threads, " ");
  std::istringstream lines(OutputOf(environment + command + " '" + folder + "' " +
                                    std::to_string(threads) +
                                    (approximate ? " approximate" : " exact")));
  PeerTime time;
  bool any = false;
  for (std::string line; std::getline(lines, line); any = true) {
    std::istringstream fields(line);
    std::getline(fields, time.name, '\t');
    fields >> time.threads >> time.queries >> time.k >> time.seconds >> time.recall >> time.goal >>
        time.build_seconds;
    std::getline(fields >> std::ws, time.setting);
    times->push_back(time);
  }
  if (!any) std::cerr << "a peer did not run: " << command << "\n";
}

// Threads can cost more than they bring, and a user would then do with fewer: what a peer is
// allowed are so many threads or fewer.
void AllowFewerThreads(std::vector<PeerTime>* times) {
  for (PeerTime& time : *times) {
    for (const PeerTime& other : *times) {
      if (other.threads < time.threads && other.IsSameSearch(time)) {
        time.seconds = std::min(time.seconds, other.seconds);
      }
    }
  }
}

// An approximate index is built once, and asked on 1 and 2 threads by the program itself.
void RunPeer(const Peer& peer, const std::string& folder, std::vector<PeerTime>* times) {
  if (peer.approximate) RunProgram(peer.command, folder, 2, /*approximate=*/true, times);
  if (!peer.exact) return;
  for (const int threads : {1, 2}) {
    RunProgram(peer.command, folder, threads, /*approximate=*/false, times);
  }
}

}  // namespace

std::vector<PeerTime> TimePeers(const SearchData& data, std::span<const int64_t> truth,
                                std::span<const int64_t> held_out_truth, const PeerChoice& choice) {
  const bool approximate = !held_out_truth.empty();
  std::string folder = std::filesystem::temp_directory_path() / "resmem_bench_XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return {};
  std::vector<PeerTime> times;
  if (WriteNpy(folder + "/keys.npy", data.key_view()).ok() &&
      WriteNpy(folder + "/queries.npy", data.query_view()).ok() &&
      WriteNpy(folder + "/truth.npy", truth).ok() &&
      (!approximate || (WriteNpy(folder + "/held_out.npy", data.held_out_view()).ok() &&
                        WriteNpy(folder + "/held_out_truth.npy", held_out_truth).ok()))) {
    for (const Peer& peer : Peers(approximate)) {
      // Behind the folders, which may have any name.
      const size_t program = peer.command.find("peer");
      if (peer.command.find(choice.only, program) != std::string::npos) {
        RunPeer(peer, folder, &times);
      }
    }
  }
  AllowFewerThreads(&times);
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return times;
}

std::vector<PeerTime> TimeMemoryPeer(MatrixView queries, std::span<const int64_t> rows,
                                     std::span<const int64_t> truth) {
  std::vector<PeerTime> times;
  const char* named = std::getenv("RESMEM_FAISS_FOLDER");
  if (named == nullptr) return times;
  const std::string folder = named;
  if (!WriteNpy(folder + "/queries.npy", queries).ok() ||
      !WriteNpy(folder + "/rows.npy", rows).ok() || !WriteNpy(folder + "/truth.npy", truth).ok()) {
    std::cerr << folder << ": cannot write there\n";
    return times;
  }
  const std::string command = "'" + (ProgramFolder() / "peer_faiss_memory").string() + "'";
  RunPeer({command, /*exact=*/true, /*approximate=*/true}, folder, &times);
  AllowFewerThreads(&times);
  return times;
}

}  // namespace resmem::bench
