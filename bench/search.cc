// Search against its own specification, the machine's limits and other people's libraries.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <optional>
#include <sstream>
#include <utility>

#include "measurement.h"
#include "search_approximate.h"
#include "search_data.h"
#include "search_exact.h"
#include "support/text.h"

namespace resmem::bench {
namespace {

constexpr int64_t kBatch = 1000;
constexpr char kUsage[] =
    "usage: bench_search [--approximate] [--markdown FILE] [--small | --large]\n"
    "                    [--no-peers | --peers WORD] [--turns N]\n"
    "                    [--only WORDS] [--arrays NAME KEYS.npy QUERIES.npy]...\n"
    "                    [--memory NAME MEMORY ROWS]... [--indexed NAME MEMORY,MEMORY...]...\n"
    "                    [--codes BITS]\n"
    "--small: 50,000 x 64 only; --large: 1,000,000 x 128 too; --only: data whose name has them\n"
    "--peers: whose program's name has it; --turns, of exact search: of each the better of N (2)\n"
    "--memory: the first ROWS keys of a memory; --indexed, with --approximate: one that has an\n"
    "index, as it is, and the same rows with other indexes; RESMEM_FAISS_FOLDER: beside faiss\n"
    "(bench/peers/faiss_memory_peer.cc); --codes: of the indexes that are made, bits a value\n";

struct Arrays {
  std::string name, keys, queries;
};
struct KeysOfMemory {
  std::string name, path;
  int64_t rows;
};

struct Flags {
  std::string markdown, only;
  bool approximate = false;
  bool small = false;
  bool large = false;
  PeerChoice peers;
  int turns = 2;
  std::optional<int> code_bits;
  std::vector<Arrays> arrays;
  std::vector<KeysOfMemory> memories, indexed;
};

std::string Introduction(const Flags& flags) {
  const std::string turns =
      flags.turns == 1 ? "" : Text(", the best of ", flags.turns, " turns of ours and the peers");
  return "# Search, measured\n\nMade by `" + CommandLine() + "`. " + MachineLine() +
         ".\n\n## Exact\n\nQueries a second, median (slowest-fastest) of at least 3 repetitions "
         "(fewer where they take over 6 s)" +
         turns + ".\nFloat32 keys. On each data set, at each level, " + Text(kComparedQueries) +
         " queries spread over the batch were first compared with the\nplain scan, row for row and "
         "bit for bit: out of a batch of all and alone, on 1 and 2 threads, k = 10 and 50.\n" +
         kThreadsOfPeers +
         "\nThe limit is measured in the same run: for one query the time to read the keys' 8-bit "
         "codes once, for a batch the\ntime of the products alone, in the arithmetic of the level "
         "(bf16 tiles for amx, float32 otherwise).\n\n";
}

struct DataSet {
  std::string name;
  std::function<std::optional<SearchData>()> make;
};

std::vector<DataSet> DataSets(const Flags& flags) {
  std::vector<DataSet> sets;
  const int64_t queries = flags.approximate ? 3 * kBatch : kBatch;
  const auto clustered = [&](int64_t rows, int64_t dim) {
    sets.push_back(
        {Text("clustered ", rows, " x ", dim), [=] { return ClusteredData(rows, dim, queries); }});
  };
  const auto uniform = [&](int64_t rows, int64_t dim) {
    sets.push_back(
        {Text("uniform ", rows, " x ", dim), [=] { return UniformData(rows, dim, queries); }});
  };
  if (flags.small) {
    clustered(50000, 64);
  } else {
    clustered(flags.approximate ? 200000 : 50000, 64);
    uniform(flags.approximate ? 100000 : 50000, 64);
    sets.push_back({"Fashion-MNIST", [=] { return FashionMnistData(queries); }});
    if (!flags.approximate) clustered(100000, 1280);
  }
  if (flags.large) clustered(1000000, 128);
  for (const Arrays& arrays : flags.arrays) {
    sets.push_back({arrays.name,
                    [=] { return ArrayData(arrays.name, arrays.keys, arrays.queries, queries); }});
  }
  for (const KeysOfMemory& memory : flags.memories) {
    sets.push_back(
        {memory.name, [=] { return MemoryData(memory.name, memory.path, memory.rows, queries); }});
  }
  std::erase_if(sets,
                [&](const DataSet& set) { return set.name.find(flags.only) == std::string::npos; });
  return sets;
}

// False where one cannot be had, or `measure` says so.
bool ForEach(const std::vector<DataSet>& sets, bool hold_out,
             const std::function<bool(const SearchData&)>& measure) {
  bool right = true;
  for (const DataSet& set : sets) {
    std::optional<SearchData> data = set.make();
    if (data) {
      if (hold_out) HoldOutTwoThirds(&*data);
      std::cerr << data->name << "\n";
      right = measure(*data) && right;
    } else {
      std::cerr << set.name << ": cannot be read\n";
      right = false;
    }
  }
  return right;
}

int Run(const Flags& flags) {
  std::vector<ExactTimes> all;
  const bool right = ForEach(DataSets(flags), /*hold_out=*/false, [&](const SearchData& data) {
    all.push_back(TimeExact(data, flags.peers, flags.turns));
    if (!all.back().right) {
      std::cerr << data.name << ": the answers differ from the specification's\n";
    }
    return all.back().right;
  });
  std::ostringstream page;
  page << Introduction(flags);
  WriteExactTable(all, page);
  if (flags.peers.any) {
    page << "\nHow many times faster ours is, the smaller of k = 10 and k = 50:\n\n";
    WriteRatios(all, page);
  }
  return Publish(page.str(), flags.markdown) && right ? 0 : 5;
}

std::vector<std::string> SplitPaths(const std::string& paths) {
  std::vector<std::string> split;
  std::istringstream parts(paths);
  for (std::string path; std::getline(parts, path, ',');) split.push_back(path);
  return split;
}

int RunApproximate(const Flags& flags) {
  std::vector<ApproximateTimes> all;
  const auto keep = [&](const std::string& name, Result<ApproximateTimes> times) {
    if (times.ok()) {
      all.push_back(std::move(times).value());
    } else {
      std::cerr << name << ": " << times.status().message() << "\n";
    }
    return times.ok();
  };
  bool right = ForEach(DataSets(flags), /*hold_out=*/true, [&](const SearchData& data) {
    return keep(data.name, TimeApproximate(data, flags.code_bits, flags.peers));
  });
  for (const KeysOfMemory& memory : flags.indexed) {
    right =
        keep(memory.name, TimeIndexedMemory(memory.name, SplitPaths(memory.path), flags.peers)) &&
        right;
  }
  std::ostringstream page;
  page << "# Approximate search, measured\n\nMade by `" << CommandLine() << "`. " << MachineLine()
       << ".\n\nFloat32 keys, k = 50. (A memory that has an index of its own: keys as they are "
          "stored, asked by 1,000 of its rows, each without\nitself; its index was made for its "
          "rows.) Of "
       << 3 * kBatch
       << " queries that are not keys two of three are held out to choose knobs: by them a peer "
          "gets the cheapest setting that\nreaches the recall on them, ours what `resmem index "
          "--recall` chooses on them (two standard errors above). Recall and times are those of "
          "the\nother "
       << kBatch
       << ", whatever they then find; wall time, median of at least 3 repetitions. Ours may leave "
          "no key out: faiss's flat index,\nwhich is exact, competes for every recall.\n"
       << kThreadsOfPeers << "\n\n";
  WriteApproximateRatios(all, page);
  page << "\nEverything that was timed:\n\n";
  WriteApproximateTable(all, page);
  return Publish(page.str(), flags.markdown) && right ? 0 : 5;
}

}  // namespace
}  // namespace resmem::bench

int main(int argc, char** argv) {
  resmem::bench::Flags flags;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--markdown" && i + 1 < argc) {
      flags.markdown = argv[++i];
    } else if (flag == "--arrays" && i + 3 < argc) {
      flags.arrays.push_back({argv[i + 1], argv[i + 2], argv[i + 3]});
      i += 3;
    } else if (flag == "--memory" && i + 3 < argc) {
      flags.memories.push_back({argv[i + 1], argv[i + 2], std::atoll(argv[i + 3])});
      i += 3;
    } else if (flag == "--indexed" && i + 2 < argc) {
      flags.indexed.push_back({argv[i + 1], argv[i + 2], 0});
      i += 2;
    } else if (flag == "--peers" && i + 1 < argc) {
      flags.peers.only = argv[++i];
    } else if (flag == "--turns" && i + 1 < argc) {
      flags.turns = std::max(1, std::atoi(argv[++i]));
    } else if (flag == "--codes" && i + 1 < argc) {
      flags.code_bits = std::atoi(argv[++i]);
    } else if (flag == "--only" && i + 1 < argc) {
      flags.only = argv[++i];
    } else if (flag == "--approximate") {
      flags.approximate = true;
    } else if (flag == "--small") {
      flags.small = true;
    } else if (flag == "--large") {
      flags.large = true;
    } else if (flag == "--no-peers") {
      flags.peers.any = false;
    } else {
      std::cerr << resmem::bench::kUsage;
      return 2;
    }
  }
  return flags.approximate ? resmem::bench::RunApproximate(flags) : resmem::bench::Run(flags);
}
