#include "images/resample.h"

#include <gtest/gtest.h>

#include "images/fit_image.h"

namespace resmem {
namespace {

// 5 x 7 gray values that follow no line.
Image Pattern() {
  Image image;
  image.shape = {5, 7, 1};
  for (int i = 0; i < 35; ++i) image.pixels.push_back(static_cast<uint8_t>(i * i * 37 + i * 11));
  return image;
}

TEST(Resample, SmallerIsToTheBitWhatPillowMakes) {
  // PIL.Image.fromarray(pattern).resize((4, 3), PIL.Image.BILINEAR), Pillow 9.4.0
  EXPECT_EQ(Resample(Pattern(), {3, 0, 3}, {4, 0, 4}),
            (std::vector<uint8_t>{67, 119, 168, 168, 152, 127, 165, 191, 173, 114, 111, 166}));
}

TEST(Resample, LargerAndNarrowerIsToTheBitWhatPillowMakes) {
  // PIL.Image.fromarray(pattern).resize((3, 6), PIL.Image.BILINEAR), Pillow 9.4.0
  EXPECT_EQ(Resample(Pattern(), {6, 0, 6}, {3, 0, 3}),
            (std::vector<uint8_t>{57, 130, 160, 93, 160, 174, 126, 157, 193, 158, 131, 185, 175,
                                  104, 160, 155, 93, 159}));
}

TEST(Resample, PartIsCutFromTheWholeResult) {
  const std::vector<uint8_t> whole = Resample(Pattern(), {9, 0, 9}, {4, 0, 4});
  const std::vector<uint8_t> part = Resample(Pattern(), {9, 3, 2}, {4, 1, 3});
  EXPECT_EQ(part, (std::vector<uint8_t>{whole[13], whole[14], whole[15], whole[17], whole[18],
                                        whole[19]}));
}

TEST(Resample, SameSizeIsACopy) {
  EXPECT_EQ(Resample(Pattern(), {5, 0, 5}, {7, 0, 7}), Pattern().pixels);
}

TEST(FitImage, CenterIsCutAsTorchvisionDoes) {
  // 1 x 8: what is cut is 1 pixel (before: 0.5, to even 0), 3 (1.5, to even 2), 5 (2.5, to 2).
  Image image;
  image.shape = {8, 8, 1};
  for (int i = 0; i < 64; ++i) image.pixels.push_back(static_cast<uint8_t>(i % 8));
  for (const auto& [width, first] : std::vector<std::pair<int64_t, int>>{{7, 0}, {5, 2}, {3, 2}}) {
    std::vector<uint8_t> out(static_cast<size_t>(width));
    ASSERT_TRUE(FitImage({{1, width, 1}, 8}, image, out).ok());
    EXPECT_EQ(out[0], first) << width;
  }
}

}  // namespace
}  // namespace resmem
