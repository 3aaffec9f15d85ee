// faiss: the flat index; its graph, and lists of 4-bit codes ("fast scan") with re-ranking.
// Built once against Debian's, and once against the one that RESMEM_FAISS_AVX512 names.
#include <faiss/IndexFlat.h>
#include <faiss/IndexHNSW.h>
#include <faiss/IndexIVFPQFastScan.h>
#include <faiss/IndexRefine.h>
#include <faiss/utils/distances.h>
#include <omp.h>

#include <algorithm>
#include <cmath>

#include "peers/peer.h"
#include "timing.h"

namespace resmem::bench {
namespace {

const std::string kName = RESMEM_PEER_NAME;

PeerSearch SearchOf(const faiss::Index& index) {
  return [&index](const float* queries, int64_t count, int64_t k, int64_t* rows) {
    std::vector<float> distances(static_cast<size_t>(count * k));
    index.search(count, queries, k, distances.data(), rows);
  };
}

void Graph(const PeerData& data) {
  const double start = SecondsNow();
  faiss::IndexHNSWFlat graph(static_cast<int>(data.dim), /*M=*/32);
  graph.hnsw.efConstruction = 100;
  graph.add(data.rows, data.key_values.data());
  const double built = SecondsNow() - start;
  std::vector<PeerSetting> settings;
  for (int ef = 50; ef <= 3200; ef = ef * 5 / 4) {
    settings.push_back({"ef " + std::to_string(ef), [&graph, ef] { graph.hnsw.efSearch = ef; }});
  }
  ReportApproximate(data, kName + " HNSW", built, settings, SearchOf(graph));
}

void FastScan(const PeerData& data) {
  const double start = SecondsNow();
  const int64_t lists = static_cast<int64_t>(4 * std::sqrt(static_cast<double>(data.rows)));
  const int64_t parts = data.dim / (data.dim % 4 == 0 && data.dim > 256 ? 4 : 2);
  faiss::IndexFlatL2 coarse(data.dim);
  faiss::IndexIVFPQFastScan codes(&coarse, static_cast<size_t>(data.dim),
                                  static_cast<size_t>(lists), static_cast<size_t>(parts), 4);
  codes.train(data.rows, data.key_values.data());
  codes.add(data.rows, data.key_values.data());
  faiss::IndexRefineFlat refined(&codes, data.key_values.data());
  const double built = SecondsNow() - start;
  std::vector<PeerSetting> settings;
  for (int64_t probes = 2; probes <= lists; probes = std::max(probes + 1, probes * 4 / 3)) {
    for (const float factor : {2.0f, 4.0f, 10.0f}) {
      settings.push_back(
          {"nprobe " + std::to_string(probes) + ", re-rank " + std::to_string(int(factor)) + " k",
           [&codes, &refined, probes, factor] {
             codes.nprobe = static_cast<size_t>(probes);
             refined.k_factor = factor;
           }});
    }
  }
  ReportApproximate(data, kName + " fast scan", built, settings, SearchOf(refined));
}

void Run(const PeerData& data) {
  omp_set_num_threads(data.threads);
  if (data.approximate) {
    FastScan(data);
    Graph(data);
    return;
  }
  faiss::IndexFlatL2 flat(data.dim);
  flat.add(data.rows, data.key_values.data());
  const PeerSearch search = SearchOf(flat);
  const int as_found = faiss::distance_compute_blas_threshold;
  ReportExact(data, kName, [&](const float* queries, int64_t count, int64_t k, int64_t* rows) {
    // Newer ones multiply matrices for batches of 1,000 only when told to, and are faster then.
    faiss::distance_compute_blas_threshold = count == 1 ? as_found : std::min(as_found, 20);
    search(queries, count, k, rows);
  });
}

}  // namespace
}  // namespace resmem::bench

int main(int argc, char** argv) {
  resmem::bench::Run(resmem::bench::LoadPeerData(argc, argv));
}
