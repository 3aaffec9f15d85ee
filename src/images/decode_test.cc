#include "images/decode.h"

#include <gtest/gtest.h>
#include <webp/encode.h>

#include <cstdlib>

#include "images/test_images.h"
#include "resmem/models/image_bytes.h"

namespace resmem {
namespace {

Status Decode(const std::string& text, Image* image) {
  // A copy of the exact size, where a sanitizer sees each wrong access.
  const std::vector<char> copy(text.begin(), text.end());
  return DecodeImage("it", std::as_bytes(std::span(copy)), image);
}

std::vector<uint8_t> Pixels(const std::string& text, const ImageShape& shape) {
  Image image;
  const Status status = Decode(text, &image);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(image.shape, shape);
  return image.pixels;
}

std::vector<uint8_t> Bytes(const std::string& text) {
  return {text.begin(), text.end()};
}

const std::string kZero(1, '\0');

TEST(DecodePng, EveryColorTypeBecomesGreyOrRgb) {
  const ImageShape grey = {2, 2, 1}, color = {2, 2, 3};
  EXPECT_EQ(Pixels(PngText({2, 2, 8, 2, kZero + "abcdef" + kZero + "ghijkl", ""}), color),
            Bytes("abcdefghijkl"));
  EXPECT_EQ(Pixels(PngText({2, 2, 8, 0, kZero + "ab" + kZero + "cd", ""}), grey), Bytes("abcd"));
  EXPECT_EQ(Pixels(PngText({2, 2, 8, 6, kZero + "abcXdefY" + kZero + "ghiZjkl ", ""}), color),
            Bytes("abcdefghijkl"));
  EXPECT_EQ(Pixels(PngText({2, 2, 8, 4, kZero + "aXbY" + kZero + "cZd ", ""}), grey),
            Bytes("abcd"));
  EXPECT_EQ(Pixels(PngText({2, 2, 16, 0, kZero + "aXbY" + kZero + "cZd ", ""}), grey),
            Bytes("abcd"));
  // 1 bit: white, black / black, white
  EXPECT_EQ(Pixels(PngText({2, 2, 1, 0, kZero + "\x80" + kZero + "\x40", ""}), grey),
            Bytes("\xff" + kZero + kZero + "\xff"));
  EXPECT_EQ(Pixels(PngText({2, 2, 8, 3, kZero + kZero + "\1" + kZero + "\1\1",
                            PngChunk("PLTE", "abcxyz") + PngChunk("tRNS", "\7")}),
                   color),
            Bytes("abcxyzxyzxyz"));
}

TEST(ReadImageBytes, GivesThePixelsOfTheShapeAndRefusesLargeImagesUnread) {
  const std::string file = PngText({2, 2, 8, 0, kZero + "ab" + kZero + "cd", ""});
  const auto read = [&](const ImageShape& shape, int64_t most_pixels, std::vector<uint8_t>* out) {
    out->assign(static_cast<size_t>(shape.bytes()), 0);
    return ReadImageBytes("it", std::as_bytes(std::span(file)), shape, 0, most_pixels, *out);
  };
  std::vector<uint8_t> out;
  ASSERT_TRUE(read({2, 2, 3}, 4, &out).ok());
  EXPECT_EQ(out, Bytes("aaabbbcccddd"));
  EXPECT_EQ(read({2, 2, 3}, 3, &out).code(), ErrorCode::kBadData);
  EXPECT_EQ(read({2, 3, 3}, 4, &out).code(), ErrorCode::kMismatch);
  EXPECT_EQ(read({0, 2, 3}, 4, &out).code(), ErrorCode::kInvalidArgument);
}

TEST(DecodePng, FiltersAreUndone) {
  // 1: each value is the difference to the one on its left; 2: to the one above.
  EXPECT_EQ(Pixels(PngText({3, 2, 8, 0, "\1a\1\1\2\1\1\1", ""}), {2, 3, 1}), Bytes("abcbcd"));
}

TEST(DecodePng, EveryTruncationAndEveryDamagedByteIsAnErrorOrAImage) {
  std::string sound = PngText({3, 2, 8, 2, kZero + "abcdefghi" + kZero + "jklmnopqr", ""});
  Image image;
  for (size_t length = 0; length < sound.size(); ++length) {
    const Status status = Decode(sound.substr(0, length), &image);
    EXPECT_EQ(status.code(), ErrorCode::kBadData) << length;
  }
  for (size_t i = 0; i < sound.size(); ++i) {
    for (const int bit : {1, 4, 128}) {
      sound[i] = static_cast<char>(sound[i] ^ bit);
      const Status status = Decode(sound, &image);
      if (!status.ok()) {
        EXPECT_EQ(status.code(), ErrorCode::kBadData) << status.message();
      }
      sound[i] = static_cast<char>(sound[i] ^ bit);
    }
  }
}

TEST(DecodePng, AbsurdSizesAreRefusedBeforeMemoryIsTaken) {
  Image image;
  Status status = Decode(PngText({60000, 60000, 8, 2, "x", ""}), &image);
  EXPECT_EQ(status.code(), ErrorCode::kBadData);
  EXPECT_NE(status.message().find("60000 x 60000 x 3"), std::string::npos) << status.message();
  status = Decode(PngText({0x7fffffff, 1, 8, 2, "x", ""}), &image);
  EXPECT_EQ(status.code(), ErrorCode::kBadData);
  EXPECT_EQ(Decode(PngText({0, 1, 8, 2, "x", ""}), &image).code(), ErrorCode::kBadData);
  EXPECT_TRUE(image.pixels.empty());
}

std::string Ramp(const ImageShape& shape) {
  std::string pixels;
  for (int64_t y = 0; y < shape.height; ++y) {
    for (int64_t x = 0; x < shape.width; ++x) {
      for (int64_t channel = 0; channel < shape.channels; ++channel) {
        pixels.push_back(static_cast<char>(60 + 4 * y + 3 * x + 20 * channel));
      }
    }
  }
  return pixels;
}

void ExpectNear(const std::vector<uint8_t>& found, const std::string& wanted, int tolerance) {
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_LE(std::abs(found[i] - static_cast<uint8_t>(wanted[i])), tolerance) << i;
  }
}

TEST(DecodeJpeg, GreyAndColorComeBackAlmostExactly) {
  for (const ImageShape shape : {ImageShape{17, 9, 1}, ImageShape{9, 17, 3}}) {
    for (const bool progressive : {false, true}) {
      ExpectNear(Pixels(JpegText(shape, Ramp(shape), progressive), shape), Ramp(shape), 6);
    }
  }
}

TEST(DecodeJpeg, CmykBecomesRgb) {
  // Adobe's inverted inks: cyan 255 is no cyan at all, black 128 leaves half of the light.
  std::string inks;
  for (int i = 0; i < 64; ++i) inks += "\xff\x80" + kZero + "\x80";
  const std::vector<uint8_t> pixels = Pixels(JpegText({8, 8, 4}, inks), {8, 8, 3});
  std::string wanted;
  for (int i = 0; i < 64; ++i) wanted += "\x80\x40" + kZero;
  ExpectNear(pixels, wanted, 2);
}

TEST(DecodeJpeg, TruncatedAndDamagedFilesAreErrorsOrImages) {
  for (const bool progressive : {false, true}) {
    const ImageShape shape = {16, 16, 3};
    std::string sound = JpegText(shape, Ramp(shape), progressive);
    Image image;
    // The last two bytes are the end marker, without which all pixels are there.
    for (size_t length = 0; length + 2 < sound.size(); ++length) {
      EXPECT_EQ(Decode(sound.substr(0, length), &image).code(), ErrorCode::kBadData) << length;
    }
    for (size_t i = 0; i < sound.size(); ++i) {
      for (const int bit : {1, 16, 128}) {
        sound[i] = static_cast<char>(sound[i] ^ bit);
        const Status status = Decode(sound, &image);
        if (!status.ok()) {
          EXPECT_EQ(status.code(), ErrorCode::kBadData) << status.message();
        }
        sound[i] = static_cast<char>(sound[i] ^ bit);
      }
    }
  }
}

TEST(DecodeJpeg, ThousandsOfScansAreRefused) {
  const std::string sound = JpegText({16, 16, 1}, Ramp({16, 16, 1}), true);
  // The first scan, again and again; the next one begins with its tables.
  const size_t first = sound.find("\xff\xda");
  const size_t second = sound.find("\xff\xc4", first);
  std::string text = sound.substr(0, second);
  for (int i = 0; i < 1000; ++i) text += sound.substr(first, second - first);
  text += sound.substr(second);
  Image image;
  const Status status = Decode(text, &image);
  EXPECT_EQ(status.code(), ErrorCode::kBadData);
  EXPECT_NE(status.message().find("scans"), std::string::npos) << status.message();
}

// Made by Pillow 9.4, and the pixels that Pillow reads from it.
constexpr uint8_t kWebpOfPillow[] = {
    0x52, 0x49, 0x46, 0x46, 0x70, 0x00, 0x00, 0x00, 0x57, 0x45, 0x42, 0x50, 0x56, 0x50, 0x38,
    0x20, 0x64, 0x00, 0x00, 0x00, 0x50, 0x01, 0x00, 0x9d, 0x01, 0x2a, 0x08, 0x00, 0x04, 0x00,
    0x02, 0x80, 0x42, 0x25, 0xb0, 0x00, 0x05, 0x8c, 0x00, 0x00, 0xfe, 0xef, 0xf9, 0xdf, 0xff,
    0x2b, 0x35, 0xfb, 0xef, 0xcc, 0xb5, 0x1a, 0xfa, 0x5b, 0xfe, 0xd9, 0xb7, 0xff, 0x5e, 0xd9,
    0xfd, 0x2e, 0x75, 0x0e, 0xf0, 0x86, 0x12, 0x27, 0xf5, 0x4f, 0xf4, 0xb9, 0xcb, 0xa0, 0x33,
    0xfa, 0xa7, 0xfa, 0x5c, 0xe8, 0xfe, 0x7f, 0xf8, 0xcf, 0xfa, 0x5c, 0xe9, 0x07, 0xf4, 0xd6,
    0x7c, 0x9f, 0x6e, 0x7c, 0x55, 0x7c, 0xc0, 0xbd, 0x81, 0xdf, 0xfc, 0xcf, 0x59, 0xbb, 0xdf,
    0x92, 0x13, 0x3e, 0xe4, 0x1f, 0xc0, 0x57, 0x9f, 0x3b, 0xd1, 0x6b, 0xc3, 0xd7, 0xa0, 0x00};
constexpr uint8_t kPixelsOfPillow[] = {
    77,  191, 93,  80,  173, 105, 91,  142, 134, 110, 117, 144, 117, 78,  119, 114,
    64,  104, 82,  50,  81,  215, 193, 219, 101, 192, 93,  104, 175, 105, 115, 144,
    134, 134, 118, 146, 141, 80,  119, 138, 66,  106, 106, 51,  81,  239, 195, 219,
    145, 190, 91,  148, 173, 103, 158, 142, 131, 177, 116, 141, 185, 79,  117, 182,
    64,  104, 150, 49,  79,  255, 194, 218, 169, 192, 91,  172, 174, 103, 182, 143,
    131, 201, 117, 144, 210, 80,  119, 206, 65,  104, 174, 51,  79,  255, 195, 218};

std::string WebpOfPillow() {
  return {reinterpret_cast<const char*>(kWebpOfPillow), sizeof(kWebpOfPillow)};
}

TEST(DecodeWebp, GivesThePixelsThatPillowGives) {
  const std::vector<uint8_t> wanted(std::begin(kPixelsOfPillow), std::end(kPixelsOfPillow));
  EXPECT_EQ(Pixels(WebpOfPillow(), {4, 8, 3}), wanted);
}

TEST(DecodeWebp, WithoutLossEveryPixelComesBackAndTransparencyIsLeftOut) {
  const ImageShape shape = {9, 17, 3};
  const std::string ramp = Ramp(shape);
  std::string rgba;
  for (size_t i = 0; i < ramp.size(); ++i) {
    rgba += ramp[i];
    if (i % 3 == 2) rgba += static_cast<char>(200 + i % 7);
  }
  uint8_t* file = nullptr;
  const size_t size =
      WebPEncodeLosslessRGBA(reinterpret_cast<const uint8_t*>(rgba.data()), 17, 9, 17 * 4, &file);
  ASSERT_GT(size, 0u);
  const std::string text(reinterpret_cast<const char*>(file), size);
  WebPFree(file);
  EXPECT_EQ(Pixels(text, shape), Bytes(ramp));
}

TEST(DecodeWebp, TruncatedAndDamagedFilesAreErrorsOrImages) {
  std::string sound = WebpOfPillow();
  Image image;
  for (size_t length = 0; length + 2 < sound.size(); ++length) {
    EXPECT_EQ(Decode(sound.substr(0, length), &image).code(), ErrorCode::kBadData) << length;
  }
  for (size_t i = 0; i < sound.size(); ++i) {
    for (const int bit : {1, 16, 128}) {
      sound[i] = static_cast<char>(sound[i] ^ bit);
      const Status status = Decode(sound, &image);
      EXPECT_TRUE(status.ok() || status.code() == ErrorCode::kBadData) << status.message();
      sound[i] = static_cast<char>(sound[i] ^ bit);
    }
  }
}

TEST(DecodeWebp, AnimationsAndAbsurdSizesAreRefused) {
  const auto extended = [](char flags, const std::string& size) {
    return "RIFF" + std::string("\x2a\0\0\0", 4) + "WEBPVP8X" + std::string("\x0a\0\0\0", 4) +
           flags + std::string(3, '\0') + size + std::string(24, '\0');
  };
  Image image;
  const Status animation = Decode(extended(2, std::string("\7\0\0\7\0\0", 6)), &image);
  EXPECT_EQ(animation.code(), ErrorCode::kUnsupported) << animation.message();
  EXPECT_NE(animation.message().find("is an animation"), std::string::npos);
  const Status large = DecodeImage("it", std::as_bytes(std::span(kWebpOfPillow)), &image, 31);
  EXPECT_EQ(large.code(), ErrorCode::kBadData) << large.message();
}

TEST(DecodeImage, OtherFilesAreNamedAsSuch) {
  Image image;
  EXPECT_NE(Decode("GIF89a", &image).message().find("no PNG, JPEG or WebP"), std::string::npos);
  EXPECT_NE(Decode("", &image).message().find("is empty"), std::string::npos);
  EXPECT_TRUE(HasImageName("a/b.JPEG"));
  EXPECT_TRUE(HasImageName("a.Png"));
  EXPECT_FALSE(HasImageName("png"));
  EXPECT_TRUE(HasImageName("a.webp"));
  EXPECT_FALSE(HasImageName("a.gif"));
}

}  // namespace
}  // namespace resmem
