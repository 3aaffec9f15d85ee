#include "search/approximate/codes/list_scan_kernel.h"

#include <gtest/gtest.h>

#include <iterator>
#include <limits>
#include <optional>
#include <vector>

#include "kernels/amx.h"
#include "kernels/every_simd_level.h"
#include "search/approximate/codes/half_bytes.h"
#include "support/random.h"

namespace resmem {
namespace {

// Rows, a group of queries, and what the header says of each cell.
struct Case {
  int64_t rows, width;
  std::vector<uint8_t> codes;
  std::vector<float> scales, norms;
  std::vector<int8_t> query_codes;
  QueryGroup group;

  Case(int64_t queries, int64_t rows_in, int64_t width_in, uint64_t seed)
      : rows(rows_in), width(width_in) {
    Random random(seed);
    const auto padded = static_cast<size_t>((rows + kBlockRows - 1) / kBlockRows * kBlockRows);
    codes.resize(padded * static_cast<size_t>(width));
    for (uint8_t& code : codes) code = static_cast<uint8_t>(random.Below(256));
    for (size_t row = 0; row < padded; ++row) {
      scales.push_back(static_cast<float>(random.Uniform()));
      // A row that is not there would be found first.
      norms.push_back(row < static_cast<size_t>(rows) ? static_cast<float>(random.Uniform() * 1e4)
                                                      : -std::numeric_limits<float>::max());
    }
    query_codes.resize(static_cast<size_t>(kGroupQueries * width));
    for (int8_t& code : query_codes) code = static_cast<int8_t>(random.Below(255)) - 127;
    group.count = queries;
    group.codes = query_codes.data();
    for (int64_t q = 0; q < queries; ++q) {
      group.corrections[q] = 0;
      for (int64_t i = 0; i < width; ++i) group.corrections[q] += 128 * query_codes[q * width + i];
      group.bases[q] = static_cast<float>(random.Uniform() * 100);
      group.double_scales[q] = static_cast<float>(random.Uniform() * 0.01);
      group.thresholds[q] = 5000;
    }
  }

  float Value(int64_t q, int64_t row) const {
    int32_t dot = 0;
    for (int64_t i = 0; i < width; ++i) {
      const int64_t byte =
          row / kBlockRows * kBlockRows * width + i / 4 * 64 + row % kBlockRows * 4 + i % 4;
      dot += query_codes[q * width + i] * (codes[byte] - 128);
    }
    const float product = static_cast<float>(dot) * scales[row] * group.double_scales[q];
    return (group.bases[q] + norms[row]) - product;
  }

  void ExpectRight() const {
    ExpectRight({codes.data(), scales.data(), norms.data()});
    if (!ScansHalfBytes(group.count)) return;
    Case halves = *this;
    halves.group.codes = halves.query_codes.data();
    std::vector<uint8_t> packed(codes.begin(), codes.begin() + HalfBytes(std::ssize(codes)));
    UnpackHalfBytes(packed.data(), std::ssize(codes) / (kBlockRows * width), width,
                    halves.codes.data());
    halves.ExpectRight({packed.data(), scales.data(), norms.data(), /*packed=*/true});
  }

  void ExpectRight(const CodeBlocks& blocks) const {
    std::vector<CellFound> found(kMostCells);
    std::optional<TileScope> tiles;
    if (AmxActive()) tiles.emplace();
    const int64_t count = ScanBlocks(group, blocks, rows, width, found.data());
    std::vector<float> values(static_cast<size_t>(group.count * rows),
                              std::numeric_limits<float>::infinity());
    for (int64_t i = 0; i < count; ++i) {
      ASSERT_LT(found[i].row, rows);
      values[found[i].query * rows + found[i].row] = found[i].value;
    }
    int64_t below = 0;
    for (int64_t q = 0; q < group.count; ++q) {
      for (int64_t row = 0; row < rows; ++row) {
        const float value = Value(q, row);
        if (!(value <= group.thresholds[q])) continue;
        ++below;
        EXPECT_EQ(values[q * rows + row], value) << "query " << q << ", row " << row;
      }
    }
    EXPECT_EQ(count, below);
  }
};

TEST(ScanBlocks, FindsTheSameCellsAndBitsAtEveryLevel) {
  AtEverySimdLevel([] {
    for (const int64_t queries : {1, 2, 3, 4, 7, 15, 16}) {
      for (const int64_t width : {64, 128, 320}) {
        for (const int64_t rows : {1, 15, 16, 17, 33, 64}) {
          SCOPED_TRACE(testing::Message() << queries << " queries, " << rows << " rows, " << width);
          Case(queries, rows, width, static_cast<uint64_t>(queries * rows + width)).ExpectRight();
        }
      }
    }
  });
}

TEST(ScanBlocks, TakesManyRowsOfOneQuery) {
  AtEverySimdLevel([] { Case(1, kMostCells, 64, 5).ExpectRight(); });
}

TEST(ScanBlocks, SumsTheLargestCodesExactly) {
  AtEverySimdLevel([] {
    Case widest(4, 16, kMostCodes, 6);
    std::fill(widest.codes.begin(), widest.codes.end(), uint8_t{255});
    std::fill(widest.query_codes.begin(), widest.query_codes.end(), int8_t{127});
    for (int64_t q = 0; q < 4; ++q) {
      widest.group.corrections[q] = static_cast<int32_t>(128 * 127 * kMostCodes);
    }
    widest.ExpectRight();
  });
}

}  // namespace
}  // namespace resmem
