// Keys and queries that are hard for a first pass, and the comparison of every way to ask for their
// neighbors with the plain scan.  For tests and bench/check_exact.cc.
#ifndef RESMEM_SEARCH_EXACT_HARD_TEST_DATA_H_
#define RESMEM_SEARCH_EXACT_HARD_TEST_DATA_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/simd_level.h"
#include "resmem/knn_index.h"
#include "resmem_program/simd.h"
#include "search/exact/reference_search.h"
#include "search/search_test_data.h"

namespace resmem {

enum class HardKind {
  kRandom,
  kClustered,
  kSortedClusters,
  kNearDuplicates,
  kHugeNorms,
  kTinyDifferences,
  kAllEqual,
  kZeros,
  kDenormal,
  kMixedScales,
  kGrid,
};
constexpr const char* kHardNames[] = {"random",          "clustered",     "clusters in order",
                                      "near-duplicates", "huge norms",    "tiny differences",
                                      "all equal",       "zeros",         "denormal",
                                      "mixed scales",    "grid with ties"};
constexpr int kHardKinds = static_cast<int>(std::size(kHardNames));

struct HardData {
  int64_t dim = 0;
  std::vector<float> keys, queries;
};

// A third of the queries are keys, a third lie beside one, the others are drawn like keys.
inline HardData MakeHardData(HardKind kind, int64_t rows, int64_t dim, int64_t queries,
                             uint64_t seed) {
  Random random(seed, static_cast<uint64_t>(kind));
  const std::vector<float> centers = NormalFloats(20 * dim, 0, 3, &random);
  const auto fill = [&](int64_t count, std::vector<float>* out) {
    for (int64_t row = 0; row < count; ++row) {
      const double scale = std::pow(10.0, 12 * random.Uniform() - 6);
      const int64_t cluster = kind == HardKind::kSortedClusters
                                  ? row * 20 / count
                                  : static_cast<int64_t>(random.Below(20));
      for (int64_t i = 0; i < dim; ++i) {
        const double normal = random.Normal();
        double value = normal;
        switch (kind) {
          case HardKind::kRandom:
            break;
          case HardKind::kClustered:
          case HardKind::kSortedClusters:
            value = centers[cluster * dim + i] + 0.3 * normal;
            break;
          case HardKind::kNearDuplicates:
            value = centers[cluster * dim + i] * (1 + 1e-7 * normal);
            break;
          case HardKind::kHugeNorms:
            value = 1e14 * normal * (cluster == 0 ? 1e4 : 1);
            break;
          case HardKind::kTinyDifferences:
            value = 1000 + 1e-3 * std::nearbyint(normal);
            break;
          case HardKind::kAllEqual:
            value = centers[i];
            break;
          case HardKind::kZeros:
            value = cluster == 0 ? normal : 0;
            break;
          case HardKind::kDenormal:
            value = 1e-40 * normal;
            break;
          case HardKind::kMixedScales:
            value = scale * normal;
            break;
          case HardKind::kGrid:
            value = std::nearbyint(normal);
            break;
        }
        out->push_back(static_cast<float>(value));
      }
    }
  };
  HardData data;
  data.dim = dim;
  fill(rows, &data.keys);
  fill(queries, &data.queries);
  for (int64_t q = 0; q < queries; ++q) {
    if (q % 3 == 0) continue;
    const int64_t row = static_cast<int64_t>(random.Below(static_cast<uint64_t>(rows)));
    for (int64_t i = 0; i < dim; ++i) {
      const float key = data.keys[row * dim + i];
      const double beside = 1 + (q % 3 == 1 ? 0 : 1e-6) * random.Normal();
      data.queries[q * dim + i] = static_cast<float>(key * beside);
    }
  }
  return data;
}

struct MismatchCount {
  int64_t asked = 0;
  int64_t mismatches = 0;  // queries of which a row or a bit of a distance differed
};

// Asks all queries at every instruction set, alone and together, on 1 and 2 threads.
inline MismatchCount CountMismatches(const HardData& data, KeyType type, int64_t k) {
  const StoredKeys stored(data.keys, data.dim, type);
  const KeyStore store = *KeyStore::Make(data.dim, {stored.block()}, {});
  const MatrixView queries(data.queries.data(),
                           static_cast<int64_t>(data.queries.size()) / data.dim, data.dim);
  SearchOptions options;
  options.k = k;
  const Neighbors expected = ReferenceSearch(store, queries, options);
  MismatchCount count;
  for (const std::string& name : SimdNamesAvailable()) {
    const ScopedSimdLevel level(name);
    const auto index = MakeExactIndex(data.dim, {stored.block()});
    for (const int64_t batch : {queries.rows, int64_t{1}}) {
      options.threads = batch == 1 ? 2 : 1;
      for (int64_t begin = 0; begin < queries.rows; begin += batch) {
        Neighbors found;
        const bool ok = (*index)->Search(queries.Slice(begin, batch), options, &found).ok();
        for (int64_t q = 0; q < batch; ++q) {
          const auto rows = expected.rows_of(begin + q);
          const auto distances = expected.distances_of(begin + q);
          ++count.asked;
          if (!ok || !std::equal(rows.begin(), rows.end(), found.rows_of(q).begin()) ||
              !std::equal(distances.begin(), distances.end(), found.distances_of(q).begin())) {
            ++count.mismatches;
          }
        }
      }
    }
  }
  return count;
}

}  // namespace resmem

#endif  // RESMEM_SEARCH_EXACT_HARD_TEST_DATA_H_
