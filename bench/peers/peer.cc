#include "peers/peer.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>

#include "resmem/data/array.h"
#include "timing.h"

namespace resmem::bench {
namespace {

constexpr int64_t kMostNeighbors = 50;

[[noreturn]] void Stop(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::exit(2);
}

Array Open(const std::string& path) {
  auto array = OpenArray({path, {}, {}});
  if (!array.ok()) Stop(array.status().message());
  return std::move(array).value();
}

std::vector<float> Floats(const Array& array) {
  std::vector<float> values(static_cast<size_t>(array.rows() * array.columns()));
  if (const Status read = array.ReadFloats(0, array.rows(), values); !read.ok()) {
    Stop(read.message());
  }
  return values;
}

double Recall(const PeerQueries& queries, const std::vector<int64_t>& found, int64_t k) {
  int64_t right = 0;
  for (int64_t q = 0; q < queries.count; ++q) {
    const auto truth = queries.truth.begin() + q * kMostNeighbors;
    for (int64_t i = 0; i < k; ++i) {
      right += std::find(truth, truth + k, found[static_cast<size_t>(q * k + i)]) != truth + k;
    }
  }
  return static_cast<double>(right) / static_cast<double>(queries.count * k);
}

void Report(const PeerData& data, const std::string& name, int threads, int64_t k, double goal,
            double build_seconds, const std::string& setting, const PeerSearch& search) {
  const int64_t queries = data.queries.count;
  const float* values = data.queries.values.data();
  std::vector<int64_t> found(static_cast<size_t>(queries * k));
  const double one = Repeat([&](int64_t i) {
                       search(values + (i % queries) * data.dim, 1, k, threads, found.data());
                     }).median;
  const double all =
      Repeat([&](int64_t) { search(values, queries, k, threads, found.data()); }).median;
  const double recall = Recall(data.queries, found, k);
  for (const auto& [count, seconds] : {std::pair(int64_t{1}, one), std::pair(queries, all)}) {
    std::printf("%s\t%d\t%lld\t%lld\t%.9f\t%.5f\t%g\t%.3f\t%s\n", name.c_str(), threads,
                static_cast<long long>(count), static_cast<long long>(k), seconds, recall, goal,
                build_seconds, setting.c_str());
  }
  std::fflush(stdout);
}

PeerQueries LoadQueries(const std::string& folder, const std::string& values,
                        const std::string& truth) {
  const Array queries = Open(folder + values);
  PeerQueries loaded{queries.rows(), Floats(queries), LoadRows(folder + truth)};
  if (loaded.count < 1 || std::ssize(loaded.truth) != loaded.count * kMostNeighbors) {
    Stop(folder + ": the arrays do not fit together");
  }
  return loaded;
}

}  // namespace

std::vector<int64_t> LoadRows(const std::string& path) {
  const Array array = Open(path);
  std::vector<int64_t> rows(static_cast<size_t>(array.rows()));
  if (!array.ReadIntegers(0, array.rows(), rows).ok()) Stop(path + ": no row numbers");
  return rows;
}

PeerData LoadPeerData(int argc, char** argv) {
  if (argc != 4) Stop("usage: PEER FOLDER THREADS exact|approximate");
  const std::string folder = argv[1];
  PeerData data;
  data.queries = LoadQueries(folder, "/queries.npy", "/truth.npy");
  data.dim = static_cast<int64_t>(data.queries.values.size()) / data.queries.count;
  if (std::filesystem::exists(folder + "/keys.npy")) {
    const Array keys = Open(folder + "/keys.npy");
    if (keys.columns() != data.dim) Stop(folder + ": keys and queries differ in dimension");
    data.rows = keys.rows();
    data.key_values = Floats(keys);
  }
  data.threads = std::atoi(argv[2]);
  data.approximate = std::string(argv[3]) == "approximate";
  if (data.approximate && std::filesystem::exists(folder + "/held_out.npy")) {
    data.held_out = LoadQueries(folder, "/held_out.npy", "/held_out_truth.npy");
  }
  return data;
}

void ReportExact(const PeerData& data, const std::string& name, const PeerSearch& search) {
  for (const int64_t k : {int64_t{10}, kMostNeighbors})
    Report(data, name, data.threads, k, /*goal=*/1, 0, "exact", search);
}

void ReportApproximate(const PeerData& data, const std::string& name, double build_seconds,
                       const std::vector<PeerSetting>& settings, const PeerSearch& search) {
  const PeerQueries& tried = data.held_out.count > 0 ? data.held_out : data.queries;
  std::vector<int64_t> found(static_cast<size_t>(tried.count * kMostNeighbors));
  auto setting = settings.begin();
  for (const double wanted : {0.95, 0.99}) {
    for (; setting != settings.end(); ++setting) {
      setting->set();
      search(tried.values.data(), tried.count, kMostNeighbors, data.threads, found.data());
      if (Recall(tried, found, kMostNeighbors) >= wanted) break;
    }
    if (setting == settings.end()) return;
    for (int threads = 1; threads <= data.threads; ++threads) {
      Report(data, name, threads, kMostNeighbors, wanted, build_seconds, setting->name, search);
    }
  }
}

}  // namespace resmem::bench
