#include "search_peers.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <sstream>

#include "resmem/array.h"
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

// The programs beside this one, as CMake built them.
std::vector<std::string> PeerCommands(bool approximate) {
  std::vector<std::string> commands;
  if (!approximate) {
    commands.push_back("/usr/bin/python3 '" RESMEM_SOURCE_FOLDER "/bench/peers/python_peer.py'");
  }
  std::error_code error;
  const auto folder = ProgramFolder();
  const auto built = [&](const char* name) {
    return std::filesystem::exists(folder / name, error);
  };
  for (const char* name : {"peer_hnswlib", "peer_faiss", "peer_faiss_avx512"}) {
    // Two graphs of the same faiss would only take twice as long to build.
    const bool slower = name == std::string_view("peer_faiss") && built("peer_faiss_avx512");
    if (built(name) && !(approximate && slower)) {
      commands.push_back("'" + (folder / name).string() + "'");
    }
  }
  // A graph only, and only where the user has it: npm install usearch.
  const char* usearch = std::getenv("RESMEM_USEARCH");
  if (approximate && usearch != nullptr) {
    commands.push_back(Text("NODE_PATH='", usearch, "/node_modules' node '", RESMEM_SOURCE_FOLDER,
                            "/bench/peers/usearch_peer.cjs'"));
  }
  return commands;
}

void RunPeer(const std::string& command, const std::string& folder, int threads, bool approximate,
             std::vector<PeerTime>* times) {
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
    for (const std::string& command : PeerCommands(approximate)) {
      const size_t program = command.find("peer");  // behind the folders, which may have any name
      if (command.find(choice.only, program) == std::string::npos) continue;
      if (!approximate) RunPeer(command, folder, 1, approximate, &times);
      RunPeer(command, folder, 2, approximate, &times);
    }
  }
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
  RunPeer(command, folder, 2, /*approximate=*/true, &times);
  for (const int threads : {1, 2}) RunPeer(command, folder, threads, /*approximate=*/false, &times);
  return times;
}

}  // namespace resmem::bench
