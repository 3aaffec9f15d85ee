// hnswlib: its graph, and its own scan over all keys.
#include <hnswlib/hnswlib.h>

#include <atomic>
#include <memory>
#include <thread>

#include "peers/peer.h"
#include "timing.h"

namespace resmem::bench {
namespace {

// Like the loop in hnswlib's own examples: it has no call for several queries.
void ForEach(int64_t count, int threads, const std::function<void(int64_t)>& run) {
  std::atomic<int64_t> next{0};
  const auto work = [&] {
    for (int64_t i; (i = next++) < count;) run(i);
  };
  std::vector<std::thread> others;
  for (int t = 1; t < threads && t < count; ++t) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
}

PeerSearch SearchOf(const PeerData& data, const hnswlib::AlgorithmInterface<float>& index) {
  return [&](const float* queries, int64_t count, int64_t k, int threads, int64_t* rows) {
    ForEach(count, threads, [&](int64_t q) {
      auto found = index.searchKnn(queries + q * data.dim, static_cast<size_t>(k));
      for (int64_t i = static_cast<int64_t>(found.size()) - 1; i >= 0; --i, found.pop()) {
        rows[q * k + i] = static_cast<int64_t>(found.top().second);
      }
    });
  };
}

void Run(const PeerData& data) {
  hnswlib::L2Space space(static_cast<size_t>(data.dim));
  const size_t rows = static_cast<size_t>(data.rows);
  const auto key = [&](int64_t row) { return data.key_values.data() + row * data.dim; };
  if (!data.approximate) {
    hnswlib::BruteforceSearch<float> all(&space, rows);
    for (int64_t row = 0; row < data.rows; ++row) all.addPoint(key(row), static_cast<size_t>(row));
    ReportExact(data, "hnswlib", SearchOf(data, all));
    return;
  }
  const double start = SecondsNow();
  hnswlib::HierarchicalNSW<float> graph(&space, rows, /*M=*/16, /*ef_construction=*/200);
  graph.addPoint(key(0), 0);
  ForEach(data.rows - 1, data.threads,
          [&](int64_t i) { graph.addPoint(key(i + 1), static_cast<size_t>(i + 1)); });
  const double built = SecondsNow() - start;
  std::vector<PeerSetting> settings;
  for (size_t ef = 50; ef <= 3200; ef = ef * 5 / 4) {
    settings.push_back({"ef " + std::to_string(ef), [&graph, ef] { graph.setEf(ef); }});
  }
  ReportApproximate(data, "hnswlib", built, settings, SearchOf(data, graph));
}

}  // namespace
}  // namespace resmem::bench

int main(int argc, char** argv) {
  resmem::bench::Run(resmem::bench::LoadPeerData(argc, argv));
}
