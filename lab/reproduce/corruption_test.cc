#include "reproduce/corruption.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace resmem {
namespace {

constexpr ImageShape kShape = {5, 4, 3};

std::vector<uint8_t> Images(int64_t count) {
  std::vector<uint8_t> pixels(static_cast<size_t>(count * kShape.bytes()));
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<uint8_t>(i * 37 % 251);
  return pixels;
}

std::vector<uint8_t> Corrupted(Corruption corruption, int strength, uint64_t seed, int64_t first,
                               std::vector<uint8_t> pixels) {
  EXPECT_TRUE(Corrupt(corruption, strength, seed, first, kShape, pixels).ok());
  return pixels;
}

TEST(Corrupt, AImageDoesNotDependOnThoseAroundIt) {
  for (const Corruption corruption :
       {Corruption::kGaussianNoise, Corruption::kBlur, Corruption::kBrightness}) {
    const std::vector<uint8_t> whole = Corrupted(corruption, 3, 1, 0, Images(3));
    const std::vector<uint8_t> all = Images(3);
    const std::vector<uint8_t> last =
        Corrupted(corruption, 3, 1, 2, std::vector<uint8_t>(all.end() - kShape.bytes(), all.end()));
    EXPECT_TRUE(std::equal(last.begin(), last.end(), whole.end() - kShape.bytes()))
        << CorruptionName(corruption);
  }
}

TEST(Corrupt, BrightnessAddsAndSaturates) {
  std::vector<uint8_t> pixels = Images(1);
  pixels[0] = 0;
  pixels[1] = 205;
  pixels[2] = 206;
  const std::vector<uint8_t> brighter = Corrupted(Corruption::kBrightness, 2, 0, 0, pixels);
  EXPECT_EQ(brighter[0], 50);
  EXPECT_EQ(brighter[1], 255);
  EXPECT_EQ(brighter[2], 255);
}

TEST(Corrupt, BlurSpreadsAPointByItsKernelAndKeepsAFlatImage) {
  std::vector<uint8_t> pixels(static_cast<size_t>(kShape.bytes()), 0);
  const auto at = [](int64_t y, int64_t x, int64_t c) {
    return static_cast<size_t>((y * kShape.width + x) * kShape.channels + c);
  };
  pixels[at(2, 2, 1)] = 160;
  const std::vector<uint8_t> blurred = Corrupted(Corruption::kBlur, 1, 0, 0, pixels);
  EXPECT_EQ(blurred[at(2, 2, 1)], 40);
  EXPECT_EQ(blurred[at(1, 2, 1)], 20);
  EXPECT_EQ(blurred[at(2, 1, 1)], 20);
  EXPECT_EQ(blurred[at(3, 3, 1)], 10);
  EXPECT_EQ(blurred[at(0, 2, 1)], 0);
  EXPECT_EQ(blurred[at(2, 2, 0)], 0);

  const std::vector<uint8_t> flat(static_cast<size_t>(kShape.bytes()), 77);
  EXPECT_EQ(Corrupted(Corruption::kBlur, 5, 0, 0, flat), flat);
  // At the border the outermost pixel counts for those that are missing.
  std::fill(pixels.begin(), pixels.end(), uint8_t{0});
  pixels[at(0, 0, 0)] = 160;
  EXPECT_EQ(Corrupted(Corruption::kBlur, 1, 0, 0, pixels)[at(0, 0, 0)], 90);
}

TEST(Corrupt, NoiseHasTheSpreadOfItsStrength) {
  constexpr ImageShape kLarge = {200, 200, 3};
  for (const int strength : {1, 5}) {
    std::vector<uint8_t> pixels(static_cast<size_t>(kLarge.bytes()), 128);
    ASSERT_TRUE(Corrupt(Corruption::kGaussianNoise, strength, 7, 0, kLarge, pixels).ok());
    double sum = 0, squares = 0;
    for (const uint8_t value : pixels) {
      sum += value - 128.0;
      squares += (value - 128.0) * (value - 128.0);
    }
    const double count = static_cast<double>(pixels.size());
    EXPECT_NEAR(sum / count, 0, 0.3) << strength;
    EXPECT_NEAR(std::sqrt(squares / count), 6.0 * strength, 0.1 * strength) << strength;
  }
}

TEST(Corrupt, NoiseIsOfTheSeedAndTheSameBytesForEver) {
  const std::vector<uint8_t> grey(static_cast<size_t>(kShape.bytes()), 128);
  const std::vector<uint8_t> noisy = Corrupted(Corruption::kGaussianNoise, 5, 1, 0, grey);
  EXPECT_NE(noisy, Corrupted(Corruption::kGaussianNoise, 5, 2, 0, grey));
  // As the rule, written down again in Python, gives them.
  const std::vector<uint8_t> first(noisy.begin(), noisy.begin() + 8);
  EXPECT_EQ(first, (std::vector<uint8_t>{136, 102, 102, 116, 114, 124, 93, 123}));
}

TEST(Corrupt, OtherStrengthsAndBrokenImagesAreRefused) {
  std::vector<uint8_t> pixels = Images(1);
  EXPECT_EQ(Corrupt(Corruption::kBlur, 0, 0, 0, kShape, pixels).code(),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(Corrupt(Corruption::kBlur, 6, 0, 0, kShape, pixels).code(),
            ErrorCode::kInvalidArgument);
  pixels.pop_back();
  EXPECT_EQ(Corrupt(Corruption::kBlur, 1, 0, 0, kShape, pixels).code(),
            ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace resmem
