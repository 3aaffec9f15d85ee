// Counts the answers of exact search that differ from the plain scan's, on data made to break it.
//
//   bench_check_exact [--seconds N] [--markdown FILE]
#include <cstdlib>
#include <iostream>
#include <map>
#include <sstream>

#include "measurement.h"
#include "search/exact/hard_test_data.h"
#include "timing.h"

namespace resmem::bench {
namespace {

struct Flags {
  double seconds = 60;
  std::string markdown;
};

// Whether all keys are finite in the form they are stored in.
bool Fits(HardKind kind, KeyType type) {
  return type != KeyType::kFloat16 ||
         (kind != HardKind::kHugeNorms && kind != HardKind::kMixedScales);
}

using Counts = std::map<std::string, std::map<std::string, MismatchCount>>;

// All data and key types once, each time with other numbers.
bool CheckRound(uint64_t round, double until, Counts* counts) {
  constexpr int64_t kDims[] = {64, 33, 100, 8, 256};
  constexpr int64_t kRows[] = {700, 4500, 1500};
  constexpr int64_t kNeighbors[] = {10, 1, 50};
  const int64_t dim = kDims[round % 5], rows = kRows[round % 3], k = kNeighbors[round % 7 % 3];
  for (int kind = 0; kind < kHardKinds; ++kind) {
    for (const KeyType type : {KeyType::kFloat32, KeyType::kFloat16, KeyType::kInt8}) {
      if (SecondsNow() > until) return false;
      if (!Fits(static_cast<HardKind>(kind), type)) continue;
      const HardData data = MakeHardData(static_cast<HardKind>(kind), rows, dim, 200, round + 100);
      const MismatchCount found = CountMismatches(data, type, k);
      MismatchCount& total = (*counts)[kHardNames[kind]][KeyTypeName(type)];
      total.asked += found.asked;
      total.mismatches += found.mismatches;
    }
  }
  return true;
}

int Run(const Flags& flags) {
  Counts counts;
  const double until = SecondsNow() + flags.seconds;
  for (uint64_t round = 0; CheckRound(round, until, &counts); ++round) {
  }
  MismatchCount all;
  std::ostringstream table;
  table << "| data | keys | answers compared | mismatches |\n|---|---|---|---|\n";
  for (const auto& [kind, types] : counts) {
    for (const auto& [type, count] : types) {
      table << "| " << kind << " | " << type << " | " << count.asked << " | " << count.mismatches
            << " |\n";
      all.asked += count.asked;
      all.mismatches += count.mismatches;
    }
  }
  table << "| all | all | " << all.asked << " | " << all.mismatches << " |\n";
  std::string names;
  for (const std::string& name : SimdNamesAvailable()) names += (names.empty() ? "" : ", ") + name;
  std::ostringstream page;
  page << "# Exact search against the plain scan\n\nMade by `" << CommandLine() << "`. "
       << MachineLine() << ".\n\nEvery query is asked at each instruction set of the machine ("
       << names
       << "), in a batch of 200\non 1 thread and alone on 2; an answer is a mismatch where one row "
          "or one bit of a distance differs from\n"
       << "`src/search/exact/reference_search.cc`. Dimensions 8 to 256, 700 to 4,500 keys, k = 1, "
          "10, "
       << "50.\n\n"
       << table.str();
  if (!Publish(page.str(), flags.markdown)) return 1;
  return all.mismatches == 0 && all.asked > 0 ? 0 : 5;
}

}  // namespace
}  // namespace resmem::bench

int main(int argc, char** argv) {
  resmem::bench::Flags flags;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--seconds" && i + 1 < argc) {
      flags.seconds = std::atof(argv[++i]);
    } else if (flag == "--markdown" && i + 1 < argc) {
      flags.markdown = argv[++i];
    } else {
      std::cerr << "usage: bench_check_exact [--seconds N] [--markdown FILE]\n";
      return 2;
    }
  }
  return resmem::bench::Run(flags);
}
