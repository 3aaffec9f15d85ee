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

Status Decode(std::string_view input) {
  Image image;
  const Status status = DecodeImage("it", std::as_bytes(std::span(input)), &image, kMostPixels);
  if (!status.ok()) return status;
  Require(std::ssize(image.pixels) == image.shape.bytes());
  Require(image.shape.height * image.shape.width <= kMostPixels);
  return {};
}

// As a request holds it, for models of 3 x 2 pixels.
Status Fit(std::string_view input, int64_t channels) {
  const ImageShape shape = {3, 2, channels};
  std::vector<uint8_t> out(static_cast<size_t>(shape.bytes()));
  return ReadImageBytes("it", std::as_bytes(std::span(input)), shape, 4, kMostPixels, out);
}

Status FitColor(std::string_view input) {
  return Fit(input, 3);
}

Status FitGray(std::string_view input) {
  return Fit(input, 1);
}

}  // namespace

std::vector<Kind> Kinds() {
  const std::string zero(1, '\0');
  const std::string color = PngText({2, 2, 8, 2, zero + "abcdef" + zero + "ghijkl", ""});
  const std::string palette = PngText({2, 2, 8, 3, zero + zero + "\1" + zero + "\1\1",
                                       PngChunk("PLTE", "abcxyz") + PngChunk("tRNS", "\7")});
  const std::string gray = PngText({2, 2, 16, 0, zero + "aXbY" + zero + "cZd ", ""});
  const std::string jpeg = JpegText({8, 9, 3}, std::string(8 * 9 * 3, 'p'));
  return {{"color.png", color, Decode},
          {"gray.png", gray, Decode},
          {"palette.png", palette, Decode},
          {"bits.png", PngText({2, 2, 1, 0, zero + "\x80" + zero + "\x40", ""}), Decode},
          {"alpha.png", PngText({2, 1, 8, 6, zero + "abcXdefY", ""}), Decode},
          {"baseline.jpg", jpeg, Decode},
          {"progressive.jpg", JpegText({8, 9, 1}, std::string(8 * 9, 'p'), true), Decode},
          {"fitted.png", color, FitColor},
          {"fitted_gray.png", gray, FitGray},
          {"fitted.jpg", jpeg, FitColor}};
}

}  // namespace resmem
