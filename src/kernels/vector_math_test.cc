#include "kernels/vector_math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/every_simd_level.h"
#include "support/random.h"

namespace resmem {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr int64_t kLengths[] = {1, 2, 7, 8, 15, 16, 17, 31, 33, 64, 100, 257};
constexpr int64_t kOffsets[] = {0, 1, 3};  // floats from a 64-byte boundary

std::vector<float> RandomFloats(int64_t n, double spread, uint64_t seed) {
  Random random(seed);
  std::vector<float> values(static_cast<size_t>(n));
  for (float& value : values) value = static_cast<float>(spread * random.Normal());
  return values;
}

// The bits of `run`'s output (n floats at an odd address, between guards) must be those of the
// plainest instruction set at every other one, and the guards must survive.
template <typename Run>
void ExpectSameBits(int64_t n, int64_t offset, const Run& run) {
  std::vector<float> expected;
  AtEverySimdLevel([&] {
    alignas(64) float buffer[300];
    std::fill(std::begin(buffer), std::end(buffer), 12345.0f);
    run(buffer + offset + 16);
    for (int64_t i = 0; i < 300; ++i) {
      const bool guard = i < offset + 16 || i >= offset + 16 + n;
      ASSERT_TRUE(!guard || buffer[i] == 12345.0f) << "position " << i;
    }
    const std::vector<float> found(buffer + offset + 16, buffer + offset + 16 + n);
    if (expected.empty()) expected = found;
    for (int64_t i = 0; i < n; ++i) {
      ASSERT_EQ(std::bit_cast<uint32_t>(found[i]), std::bit_cast<uint32_t>(expected[i]))
          << "length " << n << " offset " << offset << " position " << i;
    }
  });
}

double UlpsFrom(double truth, float found) {
  const float nearest = static_cast<float>(truth);
  const double ulp = std::nextafter(nearest, kInfinity) - static_cast<double>(nearest);
  return std::abs(found - truth) / ulp;
}

TEST(VectorMath, ExpIsWithinTwoUlps) {
  AtEverySimdLevel([] {
    double worst = 0;
    std::vector<float> x(4096), y(4096);
    for (int piece = 0; piece < 100; ++piece) {
      Random random(7, static_cast<uint64_t>(piece));
      for (float& value : x) value = static_cast<float>(-87.33 + random.Uniform() * 176.04);
      Exp(x.data(), 4096, y.data());
      for (size_t i = 0; i < x.size(); ++i)
        worst = std::max(worst, UlpsFrom(std::exp(double{x[i]}), y[i]));
    }
    EXPECT_LE(worst, 2.0);
    EXPECT_GT(worst, 0.5);  // the measure itself works
  });
}

TEST(VectorMath, ExpAtItsEndsIsOneZeroOrInfinite) {
  AtEverySimdLevel([] {
    const float x[] = {0.0f, -0.0f, -1e-30f, -87.4f, -1e30f, -kInfinity, 88.73f, kInfinity};
    float y[8];
    Exp(x, 8, y);
    EXPECT_EQ(y[0], 1.0f);
    EXPECT_EQ(y[1], 1.0f);
    EXPECT_EQ(y[2], 1.0f);
    for (int i : {3, 4, 5}) EXPECT_EQ(std::bit_cast<uint32_t>(y[i]), 0u) << x[i];
    for (int i : {6, 7}) EXPECT_EQ(y[i], kInfinity) << x[i];
  });
}

TEST(VectorMath, EveryInstructionSetGivesTheSameBits) {
  for (const int64_t n : kLengths) {
    for (const int64_t offset : kOffsets) {
      std::vector<float> storage =
          RandomFloats(n + offset, 3.0, static_cast<uint64_t>(n * 8 + offset));
      const float* x = storage.data() + offset;
      const std::vector<float> base = RandomFloats(n, 1.0, 99);
      std::vector<float> ascending(x, x + n);
      std::sort(ascending.begin(), ascending.end());
      ascending.back() = kInfinity;
      if (n == 1) ascending[0] = 2.0f;
      ExpectSameBits(n, offset, [&](float* out) { Exp(x, n, out); });
      ExpectSameBits(n, offset, [&](float* out) { Softmax(x, n, 1.4f, out); });
      ExpectSameBits(n, offset,
                     [&](float* out) { NeighborWeights(ascending.data(), n, 0.7f, out); });
      ExpectSameBits(n, offset, [&](float* out) {
        std::copy(base.begin(), base.end(), out);
        AddScaled(0.3f, x, n, out);
      });
      ExpectSameBits(1, offset, [&](float* out) { out[0] = Sum(x, n); });
    }
  }
}

TEST(VectorMath, SoftmaxIsTheExponentialsShare) {
  for (const int64_t n : kLengths) {
    const std::vector<float> logits = RandomFloats(n, 20.0, static_cast<uint64_t>(n));
    AtEverySimdLevel([&] {
      std::vector<float> found = logits;
      Softmax(found.data(), n, 0.4f, found.data());  // in place
      double sum = 0;
      for (float logit : logits) sum += std::exp((logit - logits[0]) / 0.4);
      for (int64_t i = 0; i < n; ++i) {
        EXPECT_NEAR(found[i], std::exp((logits[i] - logits[0]) / 0.4) / sum, 2e-6);
      }
    });
  }
}

TEST(VectorMath, SoftmaxOfHugeLogitsStaysFinite) {
  AtEverySimdLevel([] {
    const float logits[] = {3e38f, -3e38f, 0.0f};
    float out[3];
    Softmax(logits, 3, 1e-30f, out);
    EXPECT_EQ(out[0], 1.0f);
    EXPECT_EQ(out[1], 0.0f);
    EXPECT_EQ(out[2], 0.0f);
    const float equal[] = {-3e38f, -3e38f};
    Softmax(equal, 2, 1.4f, out);
    EXPECT_EQ(out[0], 0.5f);
    EXPECT_EQ(out[1], 0.5f);
  });
}

TEST(VectorMath, NearestNeighborWeighsOneAndAbsentOnesNothing) {
  AtEverySimdLevel([] {
    const float distances[] = {5.0f, 5.0f, 6.0f, kInfinity};
    float weights[4];
    NeighborWeights(distances, 4, 0.5f, weights);
    EXPECT_EQ(weights[0], 1.0f);
    EXPECT_EQ(weights[1], 1.0f);
    EXPECT_NEAR(weights[2], std::exp(-2.0), 1e-7);
    EXPECT_EQ(weights[3], 0.0f);
    NeighborWeights(distances, 3, 1e-45f, weights);  // far below the distances
    EXPECT_EQ(weights[0], 1.0f);
    EXPECT_EQ(weights[2], 0.0f);
    NeighborWeights(distances + 3, 1, 0.5f, weights);  // nothing found
    EXPECT_EQ(weights[0], 0.0f);
  });
}

TEST(VectorMath, SumOfOnesIsTheirNumber) {
  const std::vector<float> ones(257, 1.0f);
  AtEverySimdLevel([&] {
    EXPECT_EQ(Sum(ones.data(), 0), 0.0f);
    for (const int64_t n : kLengths) EXPECT_EQ(Sum(ones.data(), n), static_cast<float>(n));
  });
}

TEST(VectorMath, AddScaledRoundsTheProductBeforeTheSum) {
  // (1 + 2^-23)^2 = 1 + 2^-22 + 2^-46: a fused sum would keep the 2^-46.
  const float x = 1.0f + 0x1p-23f;
  const std::vector<float> xs(40, x);
  AtEverySimdLevel([&] {
    std::vector<float> accumulator(40, -1.0f);
    AddScaled(x, xs.data(), 40, accumulator.data());
    for (float value : accumulator) EXPECT_EQ(value, 0x1p-22f);
  });
}

TEST(VectorMath, AddScaledRowsGivesTheBitsOfOneCallForEachRow) {
  for (const int64_t n : kLengths) {
    const int64_t count = 7, stride = n + 3;
    const std::vector<float> rows = RandomFloats(count * stride, 1.0, static_cast<uint64_t>(n));
    const std::vector<float> weights = RandomFloats(count, 1.0, 99);
    std::vector<float> expected(static_cast<size_t>(n), 0.25f);
    for (int64_t row = 0; row < count; ++row) {
      AddScaled(weights[row], rows.data() + row * stride, n, expected.data());
    }
    AtEverySimdLevel([&] {
      std::vector<float> found(static_cast<size_t>(n), 0.25f);
      AddScaledRows(weights.data(), rows.data(), stride, count, n, found.data());
      EXPECT_EQ(found, expected) << "length " << n;
    });
  }
}

TEST(VectorMath, ArgMaxIsTheFirstOfEquals) {
  for (const int64_t n : kLengths) {
    for (int64_t at = 0; at < n; ++at) {
      std::vector<float> x(static_cast<size_t>(n), -2.0f);
      x[at] = -1.0f;
      x[n - 1] = -1.0f;
      AtEverySimdLevel([&] { ASSERT_EQ(ArgMax(x.data(), n), at) << "length " << n; });
    }
  }
}

TEST(VectorMath, ArgMaxOfSumIsArgMaxOfTheWrittenSum) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const int64_t n = kLengths[seed % 12];
    std::vector<float> base = RandomFloats(n, 1.0, seed), sum = RandomFloats(n, 1.0, seed + 1000);
    for (float& value : base) value = std::round(value * 4) / 4;  // so that ties are common
    for (float& value : sum) value = std::round(value * 4) / 4;
    std::vector<float> written = base;
    AddScaled(0.5f, sum.data(), n, written.data());
    int64_t expected = 0;
    for (int64_t i = 1; i < n; ++i) {
      if (written[i] > written[expected]) expected = i;
    }
    AtEverySimdLevel(
        [&] { ASSERT_EQ(ArgMaxOfSum(base.data(), sum.data(), 0.5f, n), expected) << n; });
  }
}

TEST(VectorMath, AddScaledAndClearLeavesZerosAndTheBitsOfAddScaled) {
  for (const int64_t n : {0, 1, 15, 16, 17, 100, 1023, 1024, 1061}) {
    for (const int64_t offset : kOffsets) {
      for (const int64_t other : kOffsets) {  // where the sum lies
        const std::vector<float> x = RandomFloats(n, 1, 5), before = RandomFloats(n, 1, 6);
        std::vector<float> expected = before;
        AddScaled(0.3f, x.data(), n, expected.data());
        AtEverySimdLevel([&] {
          std::vector<float> from(static_cast<size_t>(n) + 32, 7.0f), to = from;
          std::copy(x.begin(), x.end(), from.begin() + offset);
          std::copy(before.begin(), before.end(), to.begin() + other);
          AddScaledAndClear(0.3f, from.data() + offset, n, to.data() + other);
          for (int64_t i = 0; i < n + 32; ++i) {
            const bool cleared = i >= offset && i < offset + n, added = i >= other && i < other + n;
            ASSERT_EQ(from[i], cleared ? 0.0f : 7.0f) << n << " values, position " << i;
            ASSERT_EQ(to[i], added ? expected[i - other] : 7.0f) << n << " values, position " << i;
          }
        });
      }
    }
  }
}

}  // namespace
}  // namespace resmem
