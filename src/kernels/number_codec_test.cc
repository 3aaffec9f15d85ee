#include "kernels/number_codec.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/every_simd_level.h"
#include "support/random.h"

namespace resmem {
namespace {

// By the definition of binary16, independent of the code under test.
double ValueOfHalf(uint32_t half) {
  const int exponent = (half >> 10) & 31;
  const int mantissa = half & 1023;
  const double magnitude = exponent == 0   ? std::ldexp(mantissa, -24)
                           : exponent < 31 ? std::ldexp(1024 + mantissa, exponent - 25)
                           : mantissa == 0 ? HUGE_VAL
                                           : NAN;
  return half & 0x8000 ? -magnitude : magnitude;
}

std::vector<uint16_t> AllHalves() {
  std::vector<uint16_t> halves(65536);
  for (uint32_t i = 0; i < 65536; ++i) halves[i] = static_cast<uint16_t>(i);
  return halves;
}

TEST(NumberCodec, EveryHalfHasItsValueAndComesBack) {
  const std::vector<uint16_t> halves = AllHalves();
  AtEverySimdLevel([&] {
    std::vector<float> floats(65536);
    std::vector<uint16_t> back(65536);
    HalfToFloat(halves.data(), 65536, floats.data());
    FloatToHalf(floats.data(), 65536, back.data());
    for (uint32_t i = 0; i < 65536; ++i) {
      const double truth = ValueOfHalf(i);
      if (std::isnan(truth)) {
        ASSERT_TRUE(std::isnan(floats[i])) << i;
        ASSERT_EQ(back[i], i | 0x200) << "quiet, the payload kept";
        ASSERT_EQ(std::bit_cast<uint32_t>(floats[i]) & 0x7fffffffu,
                  0x7fc00000u | ((i & 0x3ffu) << 13));
      } else {
        ASSERT_EQ(floats[i], truth) << i;
        ASSERT_EQ(back[i], i);
      }
    }
  });
}

TEST(NumberCodec, FloatToHalfRoundsToTheNearestTiesToEven) {
  // Around every boundary between two neighboring halves: below, on and above the middle.
  std::vector<float> x;
  std::vector<uint16_t> expected;
  for (uint32_t half = 0; half < 0x7bff; ++half) {
    const float middle = static_cast<float>((ValueOfHalf(half) + ValueOfHalf(half + 1)) / 2);
    for (const float sign : {1.0f, -1.0f}) {
      const uint32_t bit = sign < 0 ? 0x8000u : 0u;
      x.push_back(sign * std::nextafter(middle, 0.0f));
      expected.push_back(static_cast<uint16_t>(half | bit));
      x.push_back(sign * middle);
      expected.push_back(static_cast<uint16_t>((half + (half & 1)) | bit));
      x.push_back(sign * std::nextafter(middle, 1e30f));
      expected.push_back(static_cast<uint16_t>((half + 1) | bit));
    }
  }
  for (const float big : {65519.99f, 65520.0f, 1e30f, std::numeric_limits<float>::infinity()}) {
    x.push_back(big);
    expected.push_back(big < 65520.0f ? 0x7bff : 0x7c00);
  }
  x.push_back(std::numeric_limits<float>::denorm_min());
  expected.push_back(0);
  AtEverySimdLevel([&] {
    std::vector<uint16_t> found(x.size());
    FloatToHalf(x.data(), static_cast<int64_t>(x.size()), found.data());
    for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(found[i], expected[i]) << x[i];
  });
}

TEST(NumberCodec, EveryInstructionSetGivesTheSameBitsAtEveryLengthAndAddress) {
  Random random(3);
  std::vector<float> floats(300);
  for (float& value : floats) value = std::bit_cast<float>(static_cast<uint32_t>(random.Bits()));
  std::vector<uint16_t> halves(300);
  for (uint16_t& value : halves) value = static_cast<uint16_t>(random.Bits());
  std::vector<int8_t> codes(300);
  for (int8_t& value : codes) value = static_cast<int8_t>(random.Bits());
  std::vector<float> finite(300);
  for (float& value : finite) value = static_cast<float>(random.Normal());
  for (const int64_t n : {0, 1, 2, 7, 8, 15, 16, 17, 31, 33, 64, 100, 257}) {
    for (const int64_t offset : {0, 1, 3}) {
      std::vector<uint32_t> expected;
      AtEverySimdLevel([&] {
        std::vector<float> wide(300, 1.0f), decoded(300, 1.0f);
        std::vector<uint16_t> narrow(300, 7);
        std::vector<int8_t> quantized(300, 9);
        HalfToFloat(halves.data() + offset, n, wide.data() + offset);
        FloatToHalf(floats.data() + offset, n, narrow.data() + offset);
        Int8ToFloat(codes.data() + offset, n, 0.37f, decoded.data() + offset);
        std::vector<uint32_t> found = {std::bit_cast<uint32_t>(
            QuantizeInt8(finite.data() + offset, n, quantized.data() + offset))};
        for (size_t i = 0; i < 300; ++i) {
          found.push_back(std::bit_cast<uint32_t>(wide[i]));
          found.push_back(std::bit_cast<uint32_t>(decoded[i]));
          found.push_back(narrow[i]);
          found.push_back(static_cast<uint8_t>(quantized[i]));
        }
        if (expected.empty()) expected = found;
        ASSERT_EQ(found, expected) << "length " << n << " offset " << offset;
        ASSERT_EQ(wide[static_cast<size_t>(n + offset)], 1.0f);
        ASSERT_EQ(narrow[static_cast<size_t>(n + offset)], 7);
      });
    }
  }
}

TEST(NumberCodec, Int8ErrorIsAtMostHalfAScale) {
  Random random(11);
  std::vector<float> x(130), back(130);
  std::vector<int8_t> codes(130);
  for (const double spread : {1e-30, 1e-3, 1.0, 1e30}) {
    for (float& value : x) value = static_cast<float>(spread * random.Normal());
    AtEverySimdLevel([&] {
      const float scale = QuantizeInt8(x.data(), 130, codes.data());
      Int8ToFloat(codes.data(), 130, scale, back.data());
      for (size_t i = 0; i < x.size(); ++i) {
        ASSERT_GE(codes[i], -127);
        ASSERT_LE(std::abs(back[i] - x[i]), scale * 0.50001f) << x[i];
      }
    });
  }
}

TEST(NumberCodec, LargestFloatQuantizesWithoutOverflow) {
  AtEverySimdLevel([] {
    const float x[] = {std::numeric_limits<float>::max(), -std::numeric_limits<float>::max(), 0.0f};
    int8_t codes[3];
    QuantizeInt8(x, 3, codes);
    EXPECT_EQ(codes[0], 127);
    EXPECT_EQ(codes[1], -127);
    EXPECT_EQ(codes[2], 0);
  });
}

TEST(NumberCodec, RowsOfZerosOrSubnormalsQuantizeToZero) {
  AtEverySimdLevel([] {
    for (const float tiny : {0.0f, 1e-45f, 1e-37f}) {
      const float x[] = {tiny, -tiny, 0.0f};
      int8_t codes[3] = {1, 1, 1};
      EXPECT_EQ(QuantizeInt8(x, 3, codes), 0.0f);
      for (const int8_t code : codes) EXPECT_EQ(code, 0);
    }
  });
}

}  // namespace
}  // namespace resmem
