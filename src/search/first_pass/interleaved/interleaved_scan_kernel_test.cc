#include "search/first_pass/interleaved/interleaved_scan_kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>
#include <vector>

#include "kernels/every_simd_level.h"
#include "search/first_pass/codes/code_scan_kernel.h"
#include "support/random.h"

namespace resmem {
namespace {

constexpr float kReach = 70;

struct Codes {
  int64_t dim, rows, blocks;
  std::vector<int8_t> plain;
  std::vector<uint8_t> room;
  uint8_t* interleaved;
  std::vector<float> scales, norms, errors, block_errors;
  std::vector<int16_t> queries, upper;  // the codes, and their upper halves as codes
  std::vector<int8_t> halves;
  std::vector<InterleavedQuery> asked;

  Codes(int64_t dim_in, int64_t rows_in, int64_t count)
      : dim(dim_in), rows(rows_in), blocks((rows + kInterleavedRows - 1) / kInterleavedRows) {
    Random random(static_cast<uint64_t>(dim));
    const int64_t width = InterleavedWidth(dim), bytes = kInterleavedRows * width;
    room.resize(static_cast<size_t>(blocks * bytes + 64));
    interleaved = room.data() + (64 - reinterpret_cast<uintptr_t>(room.data()) % 64) % 64;
    norms.assign(static_cast<size_t>(blocks * kInterleavedRows),
                 std::numeric_limits<float>::infinity());
    scales.resize(norms.size());
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t i = 0; i < dim; ++i) {
        plain.push_back(static_cast<int8_t>(static_cast<int>(random.Below(255)) - 127));
      }
      InterleaveRow(&plain[row * dim], dim, row % kInterleavedRows,
                    interleaved + row / kInterleavedRows * bytes);
      scales[row] = static_cast<float>(0.5 + random.Uniform());
      norms[row] = static_cast<float>(1e4 * random.Uniform());
    }
    if (rows > 5) norms[5] = std::numeric_limits<float>::infinity();
    for (int64_t b = 0; b < blocks; ++b) block_errors.push_back(static_cast<float>(b));
    const int32_t largest = LargestQueryCode(dim);
    queries.resize(static_cast<size_t>(count * dim));
    for (int16_t& code : queries) {
      const auto below = static_cast<uint64_t>(2 * largest + 1);
      code = static_cast<int16_t>(static_cast<int64_t>(random.Below(below)) - largest);
    }
    queries[0] = static_cast<int16_t>(-largest);
    halves.resize(static_cast<size_t>(count * 2 * width));
    for (int64_t q = 0; q < count; ++q) {
      int8_t* of_query = halves.data() + q * 2 * width;
      const HalfCorrections corrections = HalveQuery(&queries[q * dim], dim, of_query);
      // So that neither code finds all that the other one finds.
      const float norm = 100.0f * static_cast<float>(q);
      const float rough_norm = norm + (q % 2 == 0 ? -300.0f : 300.0f);
      asked.push_back({of_query,
                       {corrections.fine, norm, 1e-3f, kReach},
                       {corrections.rough, rough_norm, 0.256f, kReach}});
      upper.insert(upper.end(), of_query, of_query + dim);
    }
  }

  InterleavedRows view() const {
    return {interleaved, blocks, scales.data(), norms.data(), block_errors.data()};
  }

  // By the kernel for rows that lie one after another, with a reach that finds all that exist.
  std::vector<RowBelow> Values(const int16_t* query, const InterleavedCode& code) const {
    std::vector<RowBelow> values(static_cast<size_t>(rows));
    const std::vector<float> zero(static_cast<size_t>(rows));
    const int64_t found = ScanCodes({query, code.norm, code.double_scale},
                                    {plain.data(), scales.data(), norms.data(), zero.data()}, rows,
                                    dim, 1e18f, values.data());
    values.resize(static_cast<size_t>(found));
    return values;
  }
  std::vector<RowBelow> FineValues(int64_t q) const {
    return Values(&queries[q * dim], asked[q].fine);
  }
  std::vector<RowBelow> RoughValues(int64_t q) const {
    return Values(&upper[q * dim], asked[q].rough);
  }
  bool Within(const RowBelow& row, float reach) const {
    const float radius = reach + block_errors[row.row / kInterleavedRows];
    return row.value <= radius * radius;
  }
};

TEST(ScanInterleaved, HalvesOfAQueryStandForItsCodes) {
  const Codes codes(33, 1, 2);
  const int64_t width = InterleavedWidth(33);
  for (int64_t q = 0; q < 2; ++q) {
    int64_t sum = 0, upper = 0;
    for (int64_t i = 0; i < 33; ++i) {
      const int8_t* halves = codes.asked[q].halves;
      ASSERT_EQ(256 * halves[i] + halves[width + i], codes.queries[q * 33 + i]);
      sum += codes.queries[q * 33 + i];
      upper += halves[i];
    }
    EXPECT_EQ(codes.asked[q].fine.correction, 128 * sum);
    EXPECT_EQ(codes.asked[q].rough.correction, 128 * upper);
  }
}

TEST(ScanInterleaved, FindsWhatTheScansOfPlainRowsByBothCodesFindBitForBit) {
  AtEverySimdLevel([] {
    int64_t only_fine = 0, only_rough = 0;  // rows that one code alone would find
    if (!InterleavedAvailable()) return;    // nothing calls it there
    for (const int64_t dim : {1, 4, 33, 64, 130}) {
      for (const int64_t rows : {1, 32, 100, 161}) {
        for (int64_t count = 1; count <= kInterleavedQueries; ++count) {
          const Codes codes(dim, rows, count);
          std::vector<CellBelow> cells(
              static_cast<size_t>(count * codes.blocks * kInterleavedRows));
          const int64_t found = ScanInterleaved(codes.asked, codes.view(), dim, cells.data());
          std::set<std::tuple<int32_t, int32_t, float>> expected, actual;
          for (int64_t q = 0; q < count; ++q) {
            std::set<int32_t> rough;
            for (const RowBelow& row : codes.RoughValues(q)) {
              if (codes.Within(row, kReach)) rough.insert(row.row);
            }
            only_rough += static_cast<int64_t>(rough.size());
            for (const RowBelow& row : codes.FineValues(q)) {
              if (!codes.Within(row, kReach)) continue;
              only_fine += 1 - static_cast<int64_t>(rough.count(row.row));
              if (rough.count(row.row) == 0) continue;
              --only_rough;
              expected.insert({static_cast<int32_t>(q), row.row, row.value});
            }
          }
          for (int64_t i = 0; i < found; ++i) {
            actual.insert({cells[i].query, cells[i].key, cells[i].value});
          }
          ASSERT_EQ(actual, expected) << dim << " x " << rows << ", " << count << " queries";
          ASSERT_EQ(found, static_cast<int64_t>(expected.size()));
        }
      }
    }
    EXPECT_GT(only_fine, 0);
    EXPECT_GT(only_rough, 0);
  });
}

TEST(ScanInterleaved, LeastIsTheSmallestValueOfEachBucket) {
  AtEverySimdLevel([] {
    if (!InterleavedAvailable()) return;
    const Codes codes(48, 150, 3);
    std::vector<float> least(3 * kInterleavedBuckets);
    LeastInterleaved(codes.asked, codes.view(), 48, least.data());
    for (int64_t q = 0; q < 3; ++q) {
      std::vector<float> expected(kInterleavedBuckets, std::numeric_limits<float>::infinity());
      for (const RowBelow& row : codes.FineValues(q)) {
        float& bucket = expected[row.row % kInterleavedBuckets];
        bucket = std::min(bucket, row.value);
      }
      const auto first = least.begin() + q * kInterleavedBuckets;
      ASSERT_EQ(std::vector<float>(first, first + kInterleavedBuckets), expected);
    }
  });
}

}  // namespace
}  // namespace resmem
