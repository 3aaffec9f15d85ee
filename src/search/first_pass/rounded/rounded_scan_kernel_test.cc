#include "search/first_pass/rounded/rounded_scan_kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <set>
#include <vector>

#include "kernels/every_simd_level.h"
#include "support/random.h"

namespace resmem {
namespace {

constexpr int64_t kDims[] = {1, 2, 31, 32, 33, 64, 100, 257};

std::vector<float> WholeNumbers(int64_t n, uint64_t seed) {
  Random random(seed);
  std::vector<float> values(static_cast<size_t>(n));
  for (float& value : values) value = static_cast<float>(random.Below(7)) - 3.0f;
  return values;
}

// 32 queries and some keys of small whole numbers, which are exact in bfloat16.
struct Packed {
  Packed(int64_t dim, int64_t count)
      : queries(WholeNumbers(kRoundedQueries * dim, 1)),
        keys(WholeNumbers(count * dim, 2)),
        center(WholeNumbers(dim, 3)),
        group(static_cast<size_t>(RoundedSize(dim))),
        blocks((count + kRoundedKeys - 1) / kRoundedKeys),
        packed(static_cast<size_t>(blocks * RoundedSize(dim)), 0x7777),
        norms(static_cast<size_t>(count)) {
    for (int64_t q = 0; q < kRoundedQueries; ++q) {
      PackRoundedQuery(&queries[q * dim], dim, center.data(), q, group.data());
    }
    for (int64_t row = 0; row < count; row += kRoundedKeys) {
      PackRoundedKeys(&keys[row * dim], std::min(kRoundedKeys, count - row), dim, center.data(),
                      &packed[row / kRoundedKeys * RoundedSize(dim)], &norms[row]);
    }
  }

  float Dot(int64_t query, int64_t row, int64_t dim) const {
    float sum = 0;
    for (int64_t i = 0; row < static_cast<int64_t>(norms.size()) && i < dim; ++i) {
      sum += (queries[query * dim + i] - center[i]) * (keys[row * dim + i] - center[i]);
    }
    return sum;
  }

  std::vector<float> queries, keys, center;
  std::vector<uint16_t> group;
  int64_t blocks;
  std::vector<uint16_t> packed;
  std::vector<RoundedNorms> norms;
};

TEST(ScanRounded, FindsExactlyTheCellsNotAboveTheirThreshold) {
  AtEverySimdLevel([&] {
    for (const int64_t dim : kDims) {
      for (const int64_t count : {1, 32, 33, 160}) {
        const Packed p(dim, count);
        std::vector<float> half_norms = WholeNumbers(p.blocks * kRoundedKeys, 4);
        half_norms[0] = std::numeric_limits<float>::infinity();
        std::vector<float> bases = WholeNumbers(kRoundedQueries, 5), reaches(bases.size());
        for (size_t q = 0; q < reaches.size(); ++q) reaches[q] = static_cast<float>(q % 4);
        bases[0] = 1e38f;
        bases[1] = -1e38f;
        const std::vector<float> rooms = WholeNumbers(p.blocks, 6);
        const std::vector<float> errors(static_cast<size_t>(p.blocks), 2);
        std::vector<CellBelow> cells(static_cast<size_t>(p.blocks * 1024));
        const int64_t found =
            ScanRounded({p.group.data(), reaches.data(), bases.data()},
                        {p.packed.data(), p.blocks, half_norms.data(), errors.data(), rooms.data()},
                        dim, cells.data());
        std::set<std::pair<int32_t, int32_t>> expected;
        for (int32_t q = 0; q < kRoundedQueries; ++q) {
          for (int32_t row = 0; row < p.blocks * kRoundedKeys; ++row) {
            const int64_t b = row / kRoundedKeys;
            const float reach = reaches[q] + errors[b];
            const float threshold = bases[q] + rooms[b] + 0.5f * reach * reach;
            if (half_norms[row] - p.Dot(q, row, dim) <= threshold) expected.insert({q, row});
          }
        }
        ASSERT_EQ(found, static_cast<int64_t>(expected.size())) << dim << " x " << count;
        for (int64_t i = 0; i < found; ++i) {
          ASSERT_TRUE(expected.count({cells[i].query, cells[i].key}));
          ASSERT_EQ(cells[i].value,
                    half_norms[cells[i].key] - p.Dot(cells[i].query, cells[i].key, dim));
        }
      }
    }
  });
}

TEST(ScanRounded, SmallestIsNearTheRankThOfTheBucketsLeastValues) {
  AtEverySimdLevel([&] {
    const Packed p(64, 160);
    std::vector<float> half_norms(160, 1000.0f);
    half_norms[3] = half_norms[131] = std::numeric_limits<float>::infinity();  // a whole bucket
    const float zero[5] = {};
    const RoundedBlocks blocks = {p.packed.data(), 5, half_norms.data(), zero, zero};
    for (const int64_t rank : {int64_t{1}, int64_t{10}, int64_t{127}, kRoundedBuckets}) {
      float smallest[kRoundedQueries];
      SmallestRounded({p.group.data(), nullptr, nullptr}, blocks, 64, rank, smallest);
      for (int64_t q = 0; q < kRoundedQueries; ++q) {
        std::vector<float> least(kRoundedBuckets, std::numeric_limits<float>::infinity());
        for (int64_t row = 0; row < 160; ++row) {
          float& bucket = least[row % kRoundedBuckets];
          bucket = std::min(bucket, half_norms[row] - p.Dot(q, row, 64));
        }
        std::sort(least.begin(), least.end());
        ASSERT_GE(smallest[q], least[rank - 1]);
        if (rank == kRoundedBuckets) continue;
        ASSERT_LE(smallest[q], least[rank - 1] + 0.01f * (least[126] - least[0]));
      }
    }
  });
}

TEST(PackRounded, RoundsToNearestEvenAndKnowsNormAndError) {
  AtEverySimdLevel([&] {
    // 1 + 2^-8 is a tie that goes down to the even 1; 1 + 3 * 2^-8 one that goes up to 1 + 2^-6.
    const float key[4] = {1 + 0x1p-8f, 1 + 0x3p-8f, -3, 0x1p-130f};
    const float center[4] = {};
    std::vector<uint16_t> block(static_cast<size_t>(RoundedSize(4)));
    RoundedNorms norms;
    PackRoundedKeys(key, 1, 4, center, block.data(), &norms);
    const auto value = [&](int i) { return std::bit_cast<float>(uint32_t{block[i]} << 16); };
    EXPECT_EQ(value(0), 1.0f);
    EXPECT_EQ(value(1), 1 + 0x1p-6f);
    EXPECT_EQ(value(2), -3.0f);
    EXPECT_EQ(value(3), 0.0f);  // subnormal
    EXPECT_EQ(norms.norm, 1 + (1 + 0x1p-6f) * (1 + 0x1p-6f) + 9);
    EXPECT_EQ(norms.error, 2 * 0x1p-16f);
    std::vector<uint16_t> group(block.size());
    const RoundedNorms query = PackRoundedQuery(key, 4, center, 0, group.data());
    EXPECT_EQ(query.norm, norms.norm);
    EXPECT_EQ(query.error, norms.error);
  });
}

}  // namespace
}  // namespace resmem
