#include "memory/residuals/row_sums.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "kernels/every_simd_level.h"
#include "kernels/number_codec.h"
#include "support/random.h"

namespace resmem {
namespace {

constexpr int64_t kLengths[] = {0, 1, 3, 15, 16, 17, 31, 32, 33, 64, 100, 257, 1000, 33000};
constexpr int64_t kCounts[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 50};

// Rows of odd starts, each in an array of its own, so that a sanitizer sees what is read beyond
// one.
template <class T>
struct ScatteredRows {
  ScatteredRows(int64_t count, int64_t n) : arrays(static_cast<size_t>(count)) {
    for (auto& array : arrays) {
      array.resize(static_cast<size_t>(n));
      places.push_back(array.data());
    }
  }
  std::vector<std::vector<T>> arrays;
  std::vector<const T*> places;
};

std::vector<float> Weights(int64_t count) {
  Random random(3);
  std::vector<float> weights(static_cast<size_t>(count));
  for (float& weight : weights) weight = static_cast<float>(random.Uniform());
  return weights;
}

// As defined, and the compiler may not fuse.
std::vector<float> Expected(const std::vector<float>& weights,
                            const std::vector<std::vector<float>>& rows, int64_t n) {
  std::vector<float> sum(static_cast<size_t>(n), 0.25f);
  for (size_t row = 0; row < rows.size(); ++row) {
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += weights[row] * rows[row][i];
  }
  return sum;
}

TEST(RowSums, RowsAreAddedOneAfterTheOther) {
  for (const int64_t n : kLengths) {
    for (const int64_t count : kCounts) {
      if (n > 1000 && count != 9) continue;  // long rows once
      Random random(static_cast<uint64_t>(n * 100 + count));
      ScatteredRows<float> rows(count, n);
      for (auto& row : rows.arrays) {
        for (float& value : row) value = static_cast<float>(random.Normal());
      }
      const std::vector<float> weights = Weights(count);
      const std::vector<float> expected = Expected(weights, rows.arrays, n);
      AtEverySimdLevel([&] {
        std::vector<float> sum(static_cast<size_t>(n), 0.25f);
        AddRows(weights.data(), rows.places.data(), count, n, sum.data());
        EXPECT_EQ(sum, expected) << count << " rows of " << n;
      });
    }
  }
}

TEST(RowSums, HalvesAreAddedAsTheFloatsThatTheyAre) {
  for (const int64_t n : kLengths) {
    for (const int64_t count : kCounts) {
      if (n > 1000 && count != 9) continue;  // long rows once
      Random random(static_cast<uint64_t>(n * 100 + count));
      ScatteredRows<uint16_t> rows(count, n);
      std::vector<std::vector<float>> floats;
      for (auto& row : rows.arrays) {
        for (uint16_t& half : row) {  // finite, subnormal ones too
          half = static_cast<uint16_t>(random.Below(0x7c00) | (random.Below(2) << 15));
        }
        floats.emplace_back(row.size());
        HalfToFloat(row.data(), n, floats.back().data());
      }
      const std::vector<float> weights = Weights(count);
      const std::vector<float> expected = Expected(weights, floats, n);
      AtEverySimdLevel([&] {
        std::vector<float> sum(static_cast<size_t>(n), 0.25f);
        AddHalfRows(weights.data(), rows.places.data(), count, n, sum.data());
        EXPECT_EQ(sum, expected) << count << " rows of " << n;
      });
    }
  }
}

// At every level, with and without the instructions for many places.
void WithAndWithoutScatter(const std::function<void()>& check) {
  AtEverySimdLevel([&] {
    for (const bool use : {false, true}) {
      SCOPED_TRACE(use ? "by scatter" : "one by one");
      const ScopedScatter scatter(use);
      check();
    }
  });
}

float FloatOf(float value) {
  return value;
}
float FloatOf(uint16_t half) {
  float value = 0;
  HalfToFloat(&half, 1, &value);
  return value;
}

// At places from `first` on, the last of 128 beyond first + 889.
template <class Value, class Place>
void ExpectEntriesAdded(int64_t n, uint64_t first = 0) {
  for (const int64_t count : {0, 1, 3, 15, 16, 17, 32, 40, 100, 128}) {
    for (const int64_t rows : {1, 2, 5}) {
      Random random(static_cast<uint64_t>(count));
      ScatteredRows<Value> values(rows, count);
      ScatteredRows<Place> places(rows, count);
      const std::vector<float> weights = Weights(rows);
      std::vector<uint32_t> expected_touched;
      const std::vector<float> before = [&] {
        std::vector<float> sum(static_cast<size_t>(n));
        for (float& value : sum) value = random.Below(2) == 0 ? 0.0f : 0.25f;
        return sum;
      }();
      std::vector<float> expected = before;
      for (size_t row = 0; row < weights.size(); ++row) {
        for (size_t j = 0; j < values.arrays[row].size(); ++j) {
          Value& value = values.arrays[row][j];
          if constexpr (sizeof(Value) == 2) {  // finite, subnormal ones too
            value = static_cast<uint16_t>(random.Below(0x7c00) | (random.Below(2) << 15));
          } else {
            value = static_cast<float>(random.Normal());
          }
          const auto place = static_cast<Place>(first + j * 7 + random.Below(7));
          places.arrays[row][j] = place;
          if (place >= n) continue;
          if (expected[place] == 0) expected_touched.push_back(place);
          expected[place] += weights[row] * FloatOf(value);
        }
      }
      WithAndWithoutScatter([&] {
        std::vector<float> sum = before;
        EXPECT_EQ(AddEntries(weights.data(), values.places.data(), places.places.data(), rows,
                             count, n, sum.data(), nullptr),
                  0);
        EXPECT_EQ(sum, expected) << rows << " rows of " << count;
        sum = before;
        std::vector<uint32_t> touched(static_cast<size_t>(rows * count) + 16);
        const int64_t found = AddEntries(weights.data(), values.places.data(), places.places.data(),
                                         rows, count, n, sum.data(), touched.data());
        touched.resize(static_cast<size_t>(found));
        EXPECT_EQ(sum, expected) << rows << " rows of " << count;
        EXPECT_EQ(touched, expected_touched) << rows << " rows of " << count;
      });
    }
  }
}

TEST(RowSums, EntriesAreAddedAtTheirPlacesAndNoneBeyondTheEnd) {
  for (const int64_t n : {600, 800, 900}) {
    ExpectEntriesAdded<float, uint16_t>(n);
    ExpectEntriesAdded<float, uint32_t>(n);
    ExpectEntriesAdded<uint16_t, uint16_t>(n);
    ExpectEntriesAdded<uint16_t, uint32_t>(n);
  }
}

TEST(RowSums, PlacesOf16BitsReachTo65535) {
  constexpr int64_t kAll = 65536;
  for (const uint64_t first : {uint64_t{32768 - 400}, uint64_t{kAll - 896}}) {
    ExpectEntriesAdded<float, uint16_t>(kAll, first);
    ExpectEntriesAdded<uint16_t, uint16_t>(kAll, first);
  }
  ExpectEntriesAdded<float, uint32_t>(kAll + 600, kAll - 200);
  ExpectEntriesAdded<uint16_t, uint32_t>(kAll + 600, kAll - 200);
}

}  // namespace
}  // namespace resmem
