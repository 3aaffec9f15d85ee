#include "report/png.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

#include "report/base64.h"

namespace resmem {
namespace {

uint32_t BigEndian(const std::vector<uint8_t>& bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = value << 8 | bytes[at + i];
  return value;
}

// The pixels of our PNGs again, by the standard and not by the encoder: every chunk's checksum is
// compared, the stream inflated, each line's filter must be 0.
std::vector<uint8_t> Decode(const std::vector<uint8_t>& png, size_t height, size_t line) {
  std::vector<uint8_t> compressed;
  std::string types;
  size_t at = 8;
  while (at + 12 <= png.size()) {
    const size_t size = BigEndian(png, at);
    const std::string type(png.begin() + static_cast<std::ptrdiff_t>(at + 4),
                           png.begin() + static_cast<std::ptrdiff_t>(at + 8));
    types += type + " ";
    EXPECT_EQ(crc32(0, &png[at + 4], static_cast<uInt>(size + 4)), BigEndian(png, at + 8 + size));
    if (type == "IDAT") compressed.assign(&png[at + 8], &png[at + 8] + size);
    at += 12 + size;
  }
  EXPECT_EQ(at, png.size());
  EXPECT_EQ(types, "IHDR IDAT IEND ");
  std::vector<uint8_t> lines(height * (line + 1));
  uLongf size = lines.size();
  EXPECT_EQ(uncompress(lines.data(), &size, compressed.data(), compressed.size()), Z_OK);
  EXPECT_EQ(size, lines.size());
  std::vector<uint8_t> pixels;
  for (size_t y = 0; y < height; ++y) {
    EXPECT_EQ(lines[y * (line + 1)], 0);
    const uint8_t* begin = &lines[y * (line + 1) + 1];
    pixels.insert(pixels.end(), begin, begin + line);
  }
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
    EXPECT_EQ(Decode(*png, 5, static_cast<size_t>(7 * channels)), image.pixels);
  }
}

TEST(Png, PixelsThatDoNotFitTheSidesAreRefused) {
  Thumbnail image = MakeImage(5, 7, 1);
  image.pixels.pop_back();
  EXPECT_EQ(EncodePng(image).status().code(), ErrorCode::kBadData);
  EXPECT_EQ(EncodePng(MakeImage(2, 2, 2)).status().code(), ErrorCode::kBadData);
  EXPECT_EQ(EncodePng(Thumbnail{1 << 20, 1 << 20, 1, {0}}).status().code(), ErrorCode::kBadData);
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
