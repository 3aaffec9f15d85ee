#include "search/approximate/codes/pair_words.h"

#include <gtest/gtest.h>

#include <vector>

#include "kernels/every_simd_level.h"
#include "search/approximate/codes/list_scan_kernel.h"
#include "support/random.h"

namespace resmem {
namespace {

std::vector<uint8_t> RandomBytes(int64_t count, Random* random) {
  std::vector<uint8_t> bytes(static_cast<size_t>(count));
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random->Below(256));
  return bytes;
}

TEST(PairWords, EveryCodeIsTheOneOfItsPairsWordAtEveryLevel) {
  AtEverySimdLevel([] {
    for (const int64_t width : {64, 128, 832}) {
      for (const int64_t blocks : {1, 2, 4, 5}) {
        SCOPED_TRACE(testing::Message() << width << " codes, " << blocks << " blocks");
        Random random(static_cast<uint64_t>(width + blocks));
        const std::vector<uint8_t> words =
            RandomBytes(blocks * kBlockRows * WordBytes(width), &random);
        const std::vector<uint8_t> tables = RandomBytes(width * kWords, &random);
        std::vector<uint8_t> codes(static_cast<size_t>(blocks * kBlockRows * width));
        DecodeWords(words.data(), tables.data(), blocks, width, codes.data());
        for (int64_t row = 0; row < blocks * kBlockRows; ++row) {
          const int64_t block = row / kBlockRows, place = row % kBlockRows;
          for (int64_t i = 0; i < width; ++i) {
            const int64_t byte = i / 16 * 4 + i % 4;
            const int both =
                words[block * kBlockRows * WordBytes(width) + byte / 4 * 64 + place * 4 + byte % 4];
            const int word = i % 16 < 8 ? both & 15 : both >> 4;
            ASSERT_EQ(codes[block * kBlockRows * width + i / 4 * 64 + place * 4 + i % 4],
                      tables[i * kWords + word])
                << "row " << row << ", code " << i;
          }
        }
      }
    }
  });
}

TEST(PairWords, TheNearestWordIsTheLowestOfTheNearestAtEveryLevel) {
  AtEverySimdLevel([] {
    constexpr int64_t kPairs = 96;
    Random random(3);
    const auto small = [&](int64_t count) {  // few values: many words are equally near
      std::vector<float> values(static_cast<size_t>(count));
      for (float& value : values) value = static_cast<float>(random.Below(7)) - 3;
      return values;
    };
    const std::vector<float> first = small(kPairs), second = small(kPairs);
    const std::vector<float> firsts = small(kPairs * kWords), seconds = small(kPairs * kWords);
    std::vector<uint8_t> words(kPairs);
    NearestWords(first.data(), second.data(), {firsts.data(), seconds.data()}, kPairs,
                 words.data());
    for (int64_t p = 0; p < kPairs; ++p) {
      const auto distance = [&](int64_t w) {
        const float a = first[p] - firsts[w * kPairs + p], b = second[p] - seconds[w * kPairs + p];
        return a * a + b * b;
      };
      int64_t nearest = 0;
      for (int64_t w = 1; w < kWords; ++w) {
        if (distance(w) < distance(nearest)) nearest = w;
      }
      EXPECT_EQ(words[p], nearest) << "pair " << p;
    }
  });
}

}  // namespace
}  // namespace resmem
