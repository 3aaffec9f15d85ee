// libFuzzer's entry for the readers of images: PNG and JPEG, as files and as the service takes
// them.
#include <vector>

#include "fuzz/target.h"
#include "images/decode.h"
#include "images/fit_image.h"
#include "images/test_images.h"
#include "resmem/models/image_bytes.h"

namespace resmem {
namespace {

constexpr int64_t kMostPixels = 1 << 16;

void Decode(std::string_view input) {
  Image image;
  const Status status = DecodeImage("it", std::as_bytes(std::span(input)), &image, kMostPixels);
  Expect(status);
  if (!status.ok()) return;
  Require(std::ssize(image.pixels) == image.shape.bytes());
  Require(image.shape.height * image.shape.width <= kMostPixels);
}

// As a request holds it, for a model of 3 x 2 pixels.
void Fit(std::string_view input) {
  for (const int64_t channels : {1, 3}) {
    const ImageShape shape = {3, 2, channels};
    std::vector<uint8_t> out(static_cast<size_t>(shape.bytes()));
    Expect(ReadImageBytes("it", std::as_bytes(std::span(input)), shape, 4, kMostPixels, out));
  }
}

}  // namespace

std::vector<Kind> Kinds() {
  const std::string zero(1, '\0');
  const std::string color = PngText({2, 2, 8, 2, zero + "abcdef" + zero + "ghijkl", ""});
  const std::string palette = PngText({2, 2, 8, 3, zero + zero + "\1" + zero + "\1\1",
                                       PngChunk("PLTE", "abcxyz") + PngChunk("tRNS", "\7")});
  const std::string jpeg = JpegText({8, 9, 3}, std::string(8 * 9 * 3, 'p'));
  return {{"color.png", color, Decode},
          {"gray.png", PngText({2, 2, 16, 0, zero + "aXbY" + zero + "cZd ", ""}), Decode},
          {"palette.png", palette, Decode},
          {"bits.png", PngText({2, 2, 1, 0, zero + "\x80" + zero + "\x40", ""}), Decode},
          {"alpha.png", PngText({2, 1, 8, 6, zero + "abcXdefY", ""}), Decode},
          {"baseline.jpg", jpeg, Decode},
          {"progressive.jpg", JpegText({8, 9, 1}, std::string(8 * 9, 'p'), true), Decode},
          {"fitted.png", color, Fit},
          {"fitted.jpg", jpeg, Fit}};
}

}  // namespace resmem
