#include "report/png.h"

#include <gtest/gtest.h>
#include <png.h>

#include <string>

#include "report/base64.h"

namespace resmem {
namespace {

std::vector<uint8_t> Decode(const std::vector<uint8_t>& bytes) {
  png_image png = {};
  png.version = PNG_IMAGE_VERSION;
  EXPECT_NE(png_image_begin_read_from_memory(&png, bytes.data(), bytes.size()), 0) << png.message;
  std::vector<uint8_t> pixels(PNG_IMAGE_SIZE(png));  // in the file's own channels
  EXPECT_NE(png_image_finish_read(&png, nullptr, pixels.data(), 0, nullptr), 0) << png.message;
  return pixels;
}

Thumbnail MakeImage(int64_t height, int64_t width, int64_t channels) {
  Thumbnail image{height, width, channels, {}};
  for (int64_t i = 0; i < height * width * channels; ++i) {
    image.pixels.push_back(static_cast<uint8_t>(i * 37));
  }
  return image;
}

TEST(Png, PixelsReadBackAsTheyWere) {
  for (const int64_t channels : {1, 3}) {
    const Thumbnail image = MakeImage(5, 7, channels);
    const Result<std::vector<uint8_t>> png = EncodePng(image);
    ASSERT_TRUE(png.ok());
    EXPECT_TRUE(IsPng(*png, 5, 7));
    EXPECT_FALSE(IsPng(*png, 7, 5));
    EXPECT_EQ((*png)[25], channels == 3 ? 2 : 0);  // the color type
    EXPECT_EQ(Decode(*png), image.pixels);
  }
}

TEST(Png, PixelsThatDoNotFitTheSidesAreRefused) {
  Thumbnail image = MakeImage(5, 7, 1);
  image.pixels.pop_back();
  EXPECT_EQ(EncodePng(image).status().code(), ErrorCode::kBadData);
  EXPECT_EQ(EncodePng(MakeImage(2, 2, 2)).status().code(), ErrorCode::kBadData);
  EXPECT_EQ(EncodePng(Thumbnail{1 << 20, 1 << 20, 1, {0}}).status().code(), ErrorCode::kBadData);
}

TEST(Png, OtherBytesAreNoPng) {
  std::vector<uint8_t> png = EncodePng(MakeImage(5, 7, 1)).value();
  EXPECT_FALSE(IsPng(std::span(png).first(20), 5, 7));
  EXPECT_FALSE(IsPng({}, 5, 7));
  png[1] = 'J';
  EXPECT_FALSE(IsPng(png, 5, 7));
}

TEST(Base64, KnownTextsOfTheStandard) {
  const std::vector<std::pair<std::string, std::string>> known = {{"", ""},
                                                                  {"f", "Zg=="},
                                                                  {"fo", "Zm8="},
                                                                  {"foo", "Zm9v"},
                                                                  {"foob", "Zm9vYg=="},
                                                                  {"fooba", "Zm9vYmE="},
                                                                  {"foobar", "Zm9vYmFy"}};
  for (const auto& [plain, encoded] : known) {
    const std::vector<uint8_t> bytes(plain.begin(), plain.end());
    EXPECT_EQ(EncodeBase64(bytes), encoded);
    EXPECT_EQ(DecodeBase64(encoded), bytes);
  }
}

TEST(Base64, OtherTextIsRefused) {
  for (const char* text : {"Zg=", "Z", "Zg==Zg==", "Z\"==", "Zm9v\n", "====", "Zm=v"}) {
    EXPECT_FALSE(DecodeBase64(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace resmem
