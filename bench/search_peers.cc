#include "search_peers.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
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

}  // namespace

std::vector<PeerTime> TimePeers(const SearchData& data) {
  std::string folder = std::filesystem::temp_directory_path() / "resmem_bench_XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return {};
  std::vector<PeerTime> times;
  if (WriteNpy(folder + "/keys.npy", data.key_view()).ok() &&
      WriteNpy(folder + "/queries.npy", data.query_view()).ok()) {
    for (const int threads : {1, 2}) {
      // Debian's OpenBLAS takes this processor for an old one unless it is told; waiting threads
      // that spin would slow the peers down on a busy machine.
      const std::string environment =
          Text("OPENBLAS_CORETYPE=SkylakeX OMP_WAIT_POLICY=PASSIVE OPENBLAS_NUM_THREADS=", threads,
               " OMP_NUM_THREADS=", threads, " ");
      std::istringstream lines(OutputOf(
          environment + "/usr/bin/python3 '" RESMEM_SOURCE_FOLDER "/bench/search_peers.py' '" +
          folder + "' 2>/dev/null"));
      PeerTime time;
      time.threads = threads;
      while (lines >> time.name >> time.queries >> time.k >> time.seconds) times.push_back(time);
    }
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return times;
}

}  // namespace resmem::bench
