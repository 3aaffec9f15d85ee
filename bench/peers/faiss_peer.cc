// faiss: the flat index; its graph; lists of keys, of 8-bit codes, and of 4-bit codes ("fast
// scan"), the codes with re-ranking. Built once against Debian's, and once against the one that
// RESMEM_FAISS_AVX512 names.
#include <faiss/IndexFlat.h>
#include <faiss/IndexHNSW.h>
#include <faiss/IndexIVFFlat.h>
#include <faiss/IndexIVFPQFastScan.h>
#include <faiss/IndexRefine.h>
#include <faiss/IndexScalarQuantizer.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "peers/faiss_settings.h"
#include "peers/peer.h"
#include "timing.h"

namespace resmem::bench {
namespace {

const std::string kName = RESMEM_PEER_NAME;

PeerSearch SearchOf(const faiss::Index& index) {
  return [&index](const float* queries, int64_t count, int64_t k, int threads, int64_t* rows) {
    SetFaiss(count, threads);
    std::vector<float> distances(static_cast<size_t>(count * k));
    index.search(count, queries, k, distances.data(), rows);
  };
}

void Graph(const PeerData& data) {
  SetFaiss(data.rows, data.threads);
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

int64_t NumberOfLists(const PeerData& data) {
  return static_cast<int64_t>(4 * std::sqrt(static_cast<double>(data.rows)));
}

std::vector<int64_t> Probes(const PeerData& data) {
  std::vector<int64_t> probes;
  for (int64_t p = 2; p <= NumberOfLists(data); p = std::max(p + 1, p * 6 / 5)) probes.push_back(p);
  return probes;
}

void Lists(const PeerData& data) {
  SetFaiss(data.rows, data.threads);
  const double start = SecondsNow();
  faiss::IndexFlatL2 coarse(data.dim);
  faiss::IndexIVFFlat lists(&coarse, static_cast<size_t>(data.dim),
                            static_cast<size_t>(NumberOfLists(data)));
  lists.train(data.rows, data.key_values.data());
  lists.add(data.rows, data.key_values.data());
  const double built = SecondsNow() - start;
  std::vector<PeerSetting> settings;
  for (const int64_t probes : Probes(data)) {
    settings.push_back({"nprobe " + std::to_string(probes),
                        [&lists, probes] { lists.nprobe = static_cast<size_t>(probes); }});
  }
  ReportApproximate(data, kName + " IVF flat", built, settings, SearchOf(lists));
}

// Trained and filled here; each factor has a sweep of its own.
void ListsOfCodes(const PeerData& data, const std::string& name, const std::vector<float>& factors,
                  faiss::IndexIVF* codes) {
  SetFaiss(data.rows, data.threads);
  const double start = SecondsNow();
  codes->train(data.rows, data.key_values.data());
  codes->add(data.rows, data.key_values.data());
  faiss::IndexRefineFlat refined(codes, data.key_values.data());
  const double built = SecondsNow() - start;
  for (const float factor : factors) {
    refined.k_factor = factor;
    std::vector<PeerSetting> settings;
    for (const int64_t probes : Probes(data)) {
      char text[64];
      std::snprintf(text, sizeof(text), "nprobe %d, re-rank %g k", static_cast<int>(probes),
                    static_cast<double>(factor));
      settings.push_back({text, [codes, probes] { codes->nprobe = static_cast<size_t>(probes); }});
    }
    ReportApproximate(data, kName + name, built, settings, SearchOf(refined));
  }
}

void Bytes(const PeerData& data) {
  faiss::IndexFlatL2 coarse(data.dim);
  faiss::IndexIVFScalarQuantizer codes(&coarse, static_cast<size_t>(data.dim),
                                       static_cast<size_t>(NumberOfLists(data)),
                                       faiss::ScalarQuantizer::QT_8bit);
  ListsOfCodes(data, " IVF SQ8", {1.0f, 1.5f}, &codes);
}

void FastScan(const PeerData& data) {
  const int64_t parts = data.dim / (data.dim % 4 == 0 && data.dim > 256 ? 4 : 2);
  faiss::IndexFlatL2 coarse(data.dim);
  faiss::IndexIVFPQFastScan codes(&coarse, static_cast<size_t>(data.dim),
                                  static_cast<size_t>(NumberOfLists(data)),
                                  static_cast<size_t>(parts), 4);
  ListsOfCodes(data, " fast scan", {2.0f, 4.0f, 10.0f}, &codes);
}

void Run(const PeerData& data) {
  if (data.approximate) {
    Lists(data);
    Bytes(data);
    FastScan(data);
    Graph(data);
    return;
  }
  faiss::IndexFlatL2 flat(data.dim);
  flat.add(data.rows, data.key_values.data());
  ReportExact(data, kName, SearchOf(flat));
}

}  // namespace
}  // namespace resmem::bench

int main(int argc, char** argv) {
  resmem::bench::Run(resmem::bench::LoadPeerData(argc, argv));
}
