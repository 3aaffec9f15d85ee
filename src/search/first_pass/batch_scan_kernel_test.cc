#include "search/first_pass/batch_scan_kernel.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <vector>

#include "kernels/every_simd_level.h"
#include "support/random.h"

namespace resmem {
namespace {

std::vector<float> WholeNumbers(int64_t n, uint64_t seed) {
  Random random(seed);
  std::vector<float> values(static_cast<size_t>(n));
  for (float& value : values) value = static_cast<float>(random.Below(7)) - 3.0f;
  return values;
}

// Whole numbers are exact in float, so that the cells found are known whatever the order of sums.
TEST(ScanTile, FindsExactlyTheCellsNotAboveTheirThreshold) {
  for (const int64_t dim : {1, 2, 3, 4, 7, 64, 255, 256, 257, 513}) {
    AtEverySimdLevel([&] {
      const TileShape shape = ScanTileShape();
      for (const int64_t count : {int64_t{1}, shape.keys / 2 + 1, shape.keys}) {
        const std::vector<float> queries = WholeNumbers(shape.queries * dim, 1);
        const std::vector<float> keys = WholeNumbers(count * dim, 2);
        const std::vector<float> center = WholeNumbers(dim, 3);
        std::vector<float> group(queries.size()), panel(static_cast<size_t>(shape.keys * dim), 77);
        for (int64_t q = 0; q < shape.queries; ++q) {
          for (int64_t i = 0; i < dim; ++i) group[i * shape.queries + q] = queries[q * dim + i];
        }
        PackPanel(keys.data(), count, dim, center.data(), panel.data());
        std::vector<float> half_norms = WholeNumbers(shape.keys, 4);
        half_norms[0] = std::numeric_limits<float>::infinity();
        std::vector<float> thresholds = WholeNumbers(shape.queries, 5);
        thresholds[0] = std::numeric_limits<float>::max();
        thresholds[1] = -std::numeric_limits<float>::max();
        CellBelow cells[kMaxTileCells];
        const int64_t found =
            ScanTile(group.data(), panel.data(), dim, half_norms.data(), thresholds.data(), cells);
        std::set<std::pair<int32_t, int32_t>> expected;
        for (int32_t q = 0; q < shape.queries; ++q) {
          for (int32_t j = 0; j < shape.keys; ++j) {
            float value = half_norms[j];
            for (int64_t i = 0; j < count && i < dim; ++i) {
              value -= queries[q * dim + i] * (keys[j * dim + i] - center[i]);
            }
            if (value <= thresholds[q]) expected.insert({q, j});
          }
        }
        ASSERT_EQ(found, static_cast<int64_t>(expected.size())) << "dim " << dim;
        for (int64_t i = 0; i < found; ++i) {
          ASSERT_TRUE(expected.count({cells[i].query, cells[i].key}));
          ASSERT_LE(cells[i].value, thresholds[cells[i].query]);
        }
      }
    });
  }
}

}  // namespace
}  // namespace resmem
