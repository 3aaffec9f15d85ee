// faiss on all keys of a memory, too many for a copy in every form: the flat index, and lists of
// 8-bit and of 4-bit codes ("fast scan"), re-ranked by float16 keys.
//
//   peer_faiss_memory FOLDER THREADS build|exact|approximate
// FOLDER holds memory (a link to the memory's folder); then, as peers/peer.h has it, queries.npy,
// truth.npy, and rows.npy: the row that each query is, which is not counted among its neighbors.
// `build` takes long, and leaves the indexes in FOLDER for `approximate`.
#include <faiss/Clustering.h>
#include <faiss/IndexFlat.h>
#include <faiss/IndexIVFPQ.h>
#include <faiss/IndexIVFPQFastScan.h>
#include <faiss/IndexRefine.h>
#include <faiss/IndexScalarQuantizer.h>
#include <faiss/index_io.h>
#include <faiss/utils/distances.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>

#include "peers/faiss_settings.h"
#include "peers/peer.h"
#include "resmem/residual_memory.h"
#include "timing.h"

namespace resmem::bench {
namespace {

const std::string kName = RESMEM_PEER_NAME;

ResidualMemory OpenMemory(const std::string& folder) {
  auto memory = ResidualMemory::Open(folder + "/memory", {.verify_blocks = false});
  if (!memory.ok()) {
    std::fprintf(stderr, "%s\n", memory.status().message().c_str());
    std::exit(2);
  }
  return std::move(memory).value();
}

// Rows first, first + step, ...
std::vector<float> Keys(const ResidualMemory& memory, int64_t first, int64_t count, int64_t step) {
  const auto dim = static_cast<size_t>(memory.description().dim);
  std::vector<float> keys(static_cast<size_t>(count) * dim);
#pragma omp parallel for
  for (int64_t i = 0; i < count; ++i) {
    memory.DecodeKey(first + i * step, std::span(keys).subspan(static_cast<size_t>(i) * dim, dim));
  }
  return keys;
}

// Lists, rounds and rows a list as in our own index; faiss by itself would take four times as many
// rows, and as much longer.
void Build(const std::string& folder) {
  const ResidualMemory memory = OpenMemory(folder);
  const int64_t rows = memory.rows(), dim = memory.description().dim;
  const auto lists = static_cast<int64_t>(4 * std::sqrt(static_cast<double>(rows)));
  const double start = SecondsNow();
  faiss::IndexFlatL2 coarse(dim);
  faiss::ClusteringParameters parameters;
  parameters.niter = 10;
  parameters.max_points_per_centroid = 64;
  faiss::Clustering clustering(static_cast<int>(dim), static_cast<int>(lists), parameters);
  const int64_t sampled = std::min(rows, lists * 64);
  const std::vector<float> sample = Keys(memory, 0, sampled, rows / sampled);
  clustering.train(sampled, sample.data(), coarse);
  std::fprintf(stderr, "%lld lists after %.0f s\n", static_cast<long long>(lists),
               SecondsNow() - start);
  faiss::IndexIVFScalarQuantizer bytes(&coarse, static_cast<size_t>(dim),
                                       static_cast<size_t>(lists), faiss::ScalarQuantizer::QT_8bit);
  faiss::IndexIVFPQ nibbles(&coarse, static_cast<size_t>(dim), static_cast<size_t>(lists),
                            static_cast<size_t>(dim / 2), 4);
  faiss::IndexScalarQuantizer halves(static_cast<int>(dim), faiss::ScalarQuantizer::QT_fp16);
  const int64_t trained = std::min<int64_t>(sampled, 200000);
  bytes.train(trained, sample.data());
  nibbles.train(trained, sample.data());
  halves.train(trained, sample.data());
  constexpr int64_t kPiece = 100000;
  std::vector<faiss::idx_t> nearest(kPiece);
  for (int64_t first = 0; first < rows; first += kPiece) {
    const int64_t count = std::min(kPiece, rows - first);
    const std::vector<float> keys = Keys(memory, first, count, 1);
    coarse.assign(count, keys.data(), nearest.data());
    bytes.add_core(count, keys.data(), nullptr, nearest.data());
    nibbles.add_core(count, keys.data(), nullptr, nearest.data());
    halves.add(count, keys.data());
    if (first / kPiece % 10 == 0) {
      std::fprintf(stderr, "%lld rows after %.0f s\n", static_cast<long long>(first + count),
                   SecondsNow() - start);
    }
  }
  const faiss::IndexIVFPQFastScan fast(nibbles);
  faiss::write_index(&bytes, (folder + "/bytes.faiss").c_str());
  faiss::write_index(&fast, (folder + "/fast.faiss").c_str());
  faiss::write_index(&halves, (folder + "/halves.faiss").c_str());
  std::ofstream(folder + "/build_seconds") << SecondsNow() - start << "\n";
}

// One neighbor more is asked for, as each query finds itself.
PeerSearch WithoutItself(const PeerData& data, std::vector<int64_t> own, const PeerSearch& search) {
  return [&data, own = std::move(own), search](const float* queries, int64_t count, int64_t k,
                                               int threads, int64_t* rows) {
    std::vector<int64_t> found(static_cast<size_t>(count * (k + 1)));
    search(queries, count, k + 1, threads, found.data());
    const int64_t first = (queries - data.queries.values.data()) / data.dim;
    for (int64_t q = 0; q < count; ++q) {
      const auto begin = found.begin() + q * (k + 1);
      const auto itself = std::find(begin, begin + k, own[static_cast<size_t>(first + q)]);
      std::copy(itself + 1, begin + k + 1, std::copy(begin, itself, rows + q * k));
    }
  };
}

void TimeExact(const PeerData& data, const std::vector<int64_t>& own, const std::string& folder) {
  const ResidualMemory memory = OpenMemory(folder);
  const std::vector<float> keys = Keys(memory, 0, memory.rows(), 1);
  const PeerSearch search = [&](const float* queries, int64_t count, int64_t k, int threads,
                                int64_t* rows) {
    SetFaiss(count, threads);
    // What its flat index does, without another copy of the keys.
    std::vector<float> distances(static_cast<size_t>(count * k));
    faiss::knn_L2sqr(queries, keys.data(), static_cast<size_t>(data.dim),
                     static_cast<size_t>(count), static_cast<size_t>(memory.rows()),
                     static_cast<size_t>(k), distances.data(), rows);
  };
  ReportExact(data, kName, WithoutItself(data, own, search));
}

void TimeLists(const PeerData& data, const std::vector<int64_t>& own, const std::string& folder) {
  double built = 0;
  std::ifstream(folder + "/build_seconds") >> built;
  const std::unique_ptr<faiss::Index> halves(faiss::read_index((folder + "/halves.faiss").c_str()));
  for (const char* name : {"bytes", "fast"}) {
    const std::unique_ptr<faiss::Index> index(
        faiss::read_index((folder + "/" + name + ".faiss").c_str()));
    auto* codes = dynamic_cast<faiss::IndexIVF*>(index.get());
    faiss::IndexRefine refined(codes, halves.get());
    const bool fast = name == std::string("fast");
    for (const float factor : fast ? std::vector{2.0f, 4.0f, 10.0f} : std::vector{1.0f, 1.5f}) {
      refined.k_factor = factor;
      std::vector<PeerSetting> settings;
      for (int64_t p = 8; p <= static_cast<int64_t>(codes->nlist) / 4; p = p * 5 / 4) {
        char text[64];
        std::snprintf(text, sizeof(text), "nprobe %d, re-rank %g k", static_cast<int>(p),
                      static_cast<double>(factor));
        settings.push_back({text, [codes, p] { codes->nprobe = static_cast<size_t>(p); }});
      }
      const PeerSearch search = [&](const float* queries, int64_t count, int64_t k, int threads,
                                    int64_t* rows) {
        SetFaiss(count, threads);
        std::vector<float> distances(static_cast<size_t>(count * k));
        refined.search(count, queries, k, distances.data(), rows);
      };
      ReportApproximate(data, kName + (fast ? " fast scan" : " IVF SQ8"), built, settings,
                        WithoutItself(data, own, search));
    }
  }
}

void Run(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: peer_faiss_memory FOLDER THREADS build|exact|approximate\n");
    std::exit(2);
  }
  const std::string folder = argv[1], what = argv[3];
  omp_set_num_threads(std::atoi(argv[2]));
  if (what == "build") return Build(folder);
  const PeerData data = LoadPeerData(argc, argv);
  const std::vector<int64_t> own = LoadRows(folder + "/rows.npy");
  if (what == "exact") return TimeExact(data, own, folder);
  TimeLists(data, own, folder);
}

}  // namespace
}  // namespace resmem::bench

int main(int argc, char** argv) {
  resmem::bench::Run(argc, argv);
}
