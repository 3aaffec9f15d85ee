#include "images/decode.h"

#include <gtest/gtest.h>

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

TEST(DecodeImage, OtherFilesAreNamedAsSuch) {
  Image image;
  EXPECT_NE(Decode("GIF89a", &image).message().find("neither a PNG nor a JPEG"), std::string::npos);
  EXPECT_NE(Decode("", &image).message().find("is empty"), std::string::npos);
  EXPECT_TRUE(HasImageName("a/b.JPEG"));
  EXPECT_TRUE(HasImageName("a.Png"));
  EXPECT_FALSE(HasImageName("png"));
  EXPECT_FALSE(HasImageName("a.gif"));
}

}  // namespace
}  // namespace resmem
