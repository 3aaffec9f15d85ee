#include "search/first_pass/error_bound.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "kernels/every_simd_level.h"
#include "kernels/squared_distance.h"
#include "search/first_pass/batch_scan_kernel.h"
#include "search/first_pass/codes/code_scan_kernel.h"
#include "search/first_pass/codes/key_codes.h"
#include "search/first_pass/interleaved/interleaved_scan_kernel.h"
#include "search/first_pass/rounded/rounded_scan_kernel.h"
#include "search/first_pass/row_scan_kernel.h"
#include "search/search_test_data.h"

namespace resmem {
namespace {

TEST(RoundDown, IsTheLargestFloatNotAbove) {
  EXPECT_EQ(RoundDown(1.0), 1.0f);
  EXPECT_EQ(RoundDown(1.0 + 1e-9), 1.0f);
  EXPECT_EQ(RoundDown(1.0 - 1e-9), std::nextafter(1.0f, 0.0f));
  EXPECT_EQ(RoundUp(1.0 + 1e-9), std::nextafter(1.0f, 2.0f));
  EXPECT_EQ(RoundUp(-1.0 - 1e-9), -1.0f);
}

// Data that rounds badly: all of one sign far from zero, so that errors add up.
struct Vectors {
  std::vector<float> query, keys;
};
Vectors Hard(int64_t dim, int64_t rows, double mean, double spread) {
  Random random(static_cast<uint64_t>(dim));
  return {NormalFloats(dim, mean, spread, &random),
          NormalFloats(rows * dim, mean, spread, &random)};
}
constexpr double kMeans[] = {0, 1, 1000, 1e7};
constexpr double kSpreads[] = {1e-3, 1, 1e6};

TEST(DifferenceBound, DecidingDistanceIsWithinTheBounds) {
  for (const int64_t dim : {1, 3, 16, 64, 100, 700}) {
    for (const double mean : kMeans) {
      for (const double spread : kSpreads) {
        const Vectors v = Hard(dim, 40, mean, spread);
        const DifferenceBound bound(dim);
        AtEverySimdLevel([&] {
          RowBelow rows[40];
          ASSERT_EQ(ScanRows(v.query.data(), v.keys.data(), 40, dim, 1e38f, rows), 40);
          for (const RowBelow& row : rows) {
            const double decides = SquaredDistance(v.query.data(), &v.keys[row.row * dim], dim);
            ASSERT_LE(bound.Lower(row.value), decides);
            ASSERT_GE(bound.Upper(row.value), decides);
            ASSERT_GE(bound.Threshold(static_cast<float>(decides)), row.value * (1 - 1e-7f));
          }
        });
      }
    }
  }
}

TEST(ProductBound, DecidingDistanceIsWithinTheBounds) {
  double tightest = 0;  // largest error found / bound
  for (const int64_t dim : {1, 3, 16, 64, 256, 257, 700}) {
    for (const double mean : kMeans) {
      for (const double spread : kSpreads) {
        for (const bool centered : {false, true}) {
          const Vectors v = Hard(dim, 48, mean, spread);
          const std::vector<float> center(static_cast<size_t>(dim),
                                          centered ? static_cast<float>(mean) : 0.0f);
          const double a2 = SquaredDistance(v.query.data(), center.data(), dim);
          const ProductBound bound(dim, kDotPiece);
          AtEverySimdLevel([&] {
            const TileShape shape = ScanTileShape();
            std::vector<float> group(static_cast<size_t>(shape.queries * dim));
            for (int64_t i = 0; i < dim; ++i) group[i * shape.queries] = v.query[i] - center[i];
            std::vector<float> panel(static_cast<size_t>(shape.keys * dim));
            PackPanel(v.keys.data(), shape.keys, dim, center.data(), panel.data());
            std::vector<float> half_norms(static_cast<size_t>(shape.keys));
            for (int64_t j = 0; j < shape.keys; ++j) {
              half_norms[j] =
                  static_cast<float>(0.5 * SquaredDistance(&v.keys[j * dim], center.data(), dim));
            }
            std::vector<float> thresholds(static_cast<size_t>(shape.queries), -1e38f);
            thresholds[0] = 1e38f;
            CellBelow cells[kMaxTileCells];
            ASSERT_EQ(ScanTile(group.data(), panel.data(), dim, half_norms.data(),
                               thresholds.data(), cells),
                      shape.keys);
            for (int64_t j = 0; j < shape.keys; ++j) {
              const double decides = SquaredDistance(v.query.data(), &v.keys[j * dim], dim);
              const float error = bound.Error(static_cast<float>(std::sqrt(a2) * (1 + 1e-6)),
                                              std::sqrt(2 * half_norms[j]) * (1 + 1e-6f));
              const double off = std::abs(cells[j].value + 0.5 * a2 - 0.5 * decides);
              ASSERT_LE(off, error) << "dim " << dim << " mean " << mean << " spread " << spread;
              tightest = std::max(tightest, off / error);
            }
          });
        }
      }
    }
  }
  EXPECT_GT(tightest, 0.05);  // a bound a hundred times too wide would find too many candidates
}

TEST(CodeBound, DecidingDistanceIsWithinTheBounds) {
  constexpr int64_t kRows = 300;
  double tightest[2] = {};  // largest error found / bound
  for (const int64_t dim : {32, 64, 100, 700}) {
    for (const KeyType type : {KeyType::kFloat32, KeyType::kFloat16, KeyType::kInt8}) {
      for (const double mean : {0.0, 1.0, 1000.0}) {
        for (const double spread : {1e-20, 1e-3, 1.0, 1e3}) {
          const Vectors v = Hard(dim, kRows, mean, spread);
          const StoredKeys stored(v.keys, dim, type);
          const KeyStore keys = *KeyStore::Make(dim, {stored.block()}, {});
          const KeyGeometry geometry = *KeyGeometry::Compute(keys);
          ASSERT_TRUE(KeyCodes::Apply(keys, geometry));
          const KeyCodes codes = KeyCodes::Make(keys, geometry);
          const QueryCode query(v.query.data(), codes.origin());
          ASSERT_TRUE(query.bounded());
          const CodedRows rows = codes.Rows(0, kRows).coded;
          // All bits of the query, then the upper half of them.
          std::vector<int8_t> halves(static_cast<size_t>(2 * InterleavedWidth(dim)));
          HalveQuery(query.coded().codes, dim, halves.data());
          const std::vector<int16_t> upper_codes(halves.begin(), halves.begin() + dim);
          const QueryCode::Rough rough = query.UpperHalf(halves.data());
          const CodedQuery coded[] = {query.coded(),
                                      {upper_codes.data(), rough.norm, rough.double_scale}};
          const float errors[] = {query.error(), rough.error};
          std::vector<float> scratch(static_cast<size_t>(dim));
          AtEverySimdLevel([&] {
            for (const int which : {0, 1}) {
              const CodeBound bound(coded[which].norm, errors[which]);
              RowBelow found[kRows];
              ASSERT_EQ(ScanCodes(coded[which], rows, kRows, dim, bound.Reach(1e30f), found),
                        kRows);
              for (const RowBelow& row : found) {
                const double decides = std::sqrt(
                    SquaredDistance(v.query.data(), keys.Rows(row.row, 1, scratch.data()), dim));
                const float error = rows.errors[row.row];
                const float lower = bound.Lower(row.value, error);
                const float upper = bound.Upper(row.value, rows.norms[row.row], error);
                ASSERT_LE(lower, decides)
                    << "dim " << dim << " mean " << mean << " spread " << spread;
                ASSERT_GE(upper, decides)
                    << "dim " << dim << " mean " << mean << " spread " << spread;
                // A row at the bound itself is found.
                const float radius = bound.Reach(RoundUp(decides)) + error;
                ASSERT_LE(row.value, radius * radius);
                const double middle = (double{lower} + upper) / 2, half = upper - middle;
                if (half > 0) {
                  tightest[which] = std::max(tightest[which], std::abs(decides - middle) / half);
                }
              }
            }
          });
        }
      }
    }
  }
  // A bound far too wide would find too many candidates.
  EXPECT_GT(tightest[0], 0.05);
  EXPECT_GT(tightest[1], 0.05);
}

TEST(CodeBound, TheUpperHalfOfAQueryFarAwayFindsEverything) {
  constexpr int64_t kDim = 8192;  // queries of many dimensions have few bits
  std::vector<float> query(kDim);
  const std::vector<float> origin(kDim);
  query[5] = 9e14f;
  const QueryCode code(query.data(), origin);
  ASSERT_TRUE(code.bounded());
  std::vector<int8_t> halves(2 * kDim);
  HalveQuery(code.coded().codes, kDim, halves.data());
  const QueryCode::Rough rough = code.UpperHalf(halves.data());
  EXPECT_GE(CodeBound(rough.norm, rough.error).Reach(0), 9 * CodeBound::kLargestNorm);
  EXPECT_LE(rough.double_scale, CodeBound::kLargestDoubleScale);
}

// The worst that can happen: the query lies exactly where the code's error points, or opposite.
TEST(CodeBound, HoldsWhereTheErrorOfTheCodePointsAtTheQuery) {
  constexpr int64_t kRows = 300, kDim = 64;
  const Vectors v = Hard(kDim, kRows, 1, 1);
  const StoredKeys stored(v.keys, kDim, KeyType::kFloat32);
  const KeyStore keys = *KeyStore::Make(kDim, {stored.block()}, {});
  const KeyCodes codes = KeyCodes::Make(keys, *KeyGeometry::Compute(keys));
  double tightest = 0;
  for (int64_t row = 0; row < kRows; ++row) {
    const CodedRows coded = codes.Rows(row, 1).coded;
    for (const float times : {-100.0f, -3.0f, 0.0f, 3.0f, 100.0f}) {
      const float* key = &v.keys[row * kDim];
      std::vector<float> asked(key, key + kDim);
      for (int64_t i = 0; i < kDim; ++i) {
        asked[i] += times * (key[i] - codes.origin()[i] -
                             coded.scales[0] * static_cast<float>(coded.codes[i]));
      }
      const double decides = std::sqrt(SquaredDistance(asked.data(), key, kDim));
      const QueryCode query(asked.data(), codes.origin());
      const CodeBound bound(query.coded().norm, query.error());
      AtEverySimdLevel([&] {
        RowBelow found;
        ASSERT_EQ(ScanCodes(query.coded(), coded, 1, kDim, bound.Reach(1e30f), &found), 1);
        const double lower = bound.Lower(found.value, coded.errors[0]);
        const double upper = bound.Upper(found.value, coded.norms[0], coded.errors[0]);
        ASSERT_LE(lower, decides) << "row " << row << " times " << times;
        ASSERT_GE(upper, decides) << "row " << row << " times " << times;
        const double middle = (lower + upper) / 2;
        tightest = std::max(tightest, std::abs(decides - middle) / (upper - middle));
      });
    }
  }
  EXPECT_GT(tightest, 0.9);
}

// One query, at place 5 of a group, and a block of keys.
struct RoundedPair {
  RoundedPair(const Vectors& v, int64_t dim, const std::vector<float>& center,
              const RoundedBound& bound)
      : group(static_cast<size_t>(RoundedSize(dim))), block(group.size()) {
    PackRoundedKeys(v.keys.data(), kRoundedKeys, dim, center.data(), block.data(), norms);
    query = PackRoundedQuery(v.query.data(), dim, center.data(), 5, group.data());
    query_error = bound.Error(query.norm, query.error);
    for (int64_t j = 0; j < kRoundedKeys; ++j) {
      half_norms[j] = 0.5f * norms[j].norm;
      key_errors[j] = bound.Error(norms[j].norm, norms[j].error);
    }
    std::fill_n(bases, kRoundedQueries, -1e38f);
    bases[5] = bound.Base(query.norm);
  }
  // The keys found within reach, as if all had the norm and the error of `key`.
  std::vector<CellBelow> Scan(float reach, int64_t key, int64_t dim, const RoundedBound& bound) {
    const float room = bound.Room(norms[key].norm);
    reaches[5] = reach;
    std::vector<CellBelow> cells(static_cast<size_t>(kRoundedQueries * kRoundedKeys));
    const RoundedBlocks blocks = {block.data(), 1, half_norms, &key_errors[key], &room};
    cells.resize(static_cast<size_t>(
        ScanRounded({group.data(), reaches, bases}, blocks, dim, cells.data())));
    return cells;
  }

  std::vector<uint16_t> group, block;
  RoundedNorms norms[kRoundedKeys], query;
  float query_error, half_norms[kRoundedKeys], key_errors[kRoundedKeys];
  float reaches[kRoundedQueries] = {}, bases[kRoundedQueries];
};

double TightestOfRounded(int64_t dim, double mean, double spread, bool centered) {
  const Vectors v = Hard(dim, kRoundedKeys, mean, spread);
  const std::vector<float> center(static_cast<size_t>(dim),
                                  centered ? static_cast<float>(mean) : 0.0f);
  const RoundedBound bound(RoundingsOfSum(dim));
  RoundedPair pair(v, dim, center, bound);
  double tightest = 0;
  const std::vector<CellBelow> all = pair.Scan(1e18f, 0, dim, bound);
  EXPECT_EQ(all.size(), static_cast<size_t>(kRoundedKeys));
  for (const CellBelow& cell : all) {
    const double decides = std::sqrt(SquaredDistance(v.query.data(), &v.keys[cell.key * dim], dim));
    const RoundedBound::Interval distance =
        bound.Distance(cell.value, pair.query.norm, pair.norms[cell.key].norm,
                       pair.query_error + pair.key_errors[cell.key]);
    EXPECT_LE(distance.lower, decides);
    EXPECT_GE(distance.upper, decides);
    const double middle = (double{distance.lower} + distance.upper) / 2;
    tightest = std::max(tightest, std::abs(decides - middle) / (distance.upper - middle));
    if (cell.key % 15 != 0) continue;
    // A row at the bound itself is found.
    const float reach = RoundedBound::Reach(RoundUp(decides), pair.query_error);
    const std::vector<CellBelow> near = pair.Scan(reach, cell.key, dim, bound);
    EXPECT_TRUE(std::any_of(near.begin(), near.end(),
                            [&](const CellBelow& found) { return found.key == cell.key; }));
  }
  return tightest;
}

TEST(RoundedBound, DecidingDistanceIsWithinTheBounds) {
  double tightest = 0;  // largest error found / bound
  // By tiles where there are any, and in plain loops.
  const std::vector<std::string> names = SimdNamesAvailable();
  for (const std::string& name : {names.front(), names.back()}) {
    const ScopedSimdLevel level(name);
    for (const int64_t dim : {1, 31, 32, 33, 64, 100, 700}) {
      for (const double mean : kMeans) {
        for (const double spread : {1e-20, 1e-3, 1.0, 1e6}) {
          for (const bool centered : {false, true}) {
            SCOPED_TRACE(::testing::Message() << name << " dim " << dim << " mean " << mean
                                              << " spread " << spread << " " << centered);
            tightest = std::max(tightest, TightestOfRounded(dim, mean, spread, centered));
          }
        }
      }
    }
  }
  EXPECT_GT(tightest, 0.2);  // a bound far too wide would find too many candidates
}

}  // namespace
}  // namespace resmem
