#include "report/png.h"

#include <png.h>

#include "support/text.h"

namespace resmem {
namespace {

constexpr int64_t kLongestPngSide = 4096;

png_image PngImage(int64_t height, int64_t width) {
  png_image png = {};
  png.version = PNG_IMAGE_VERSION;
  png.height = static_cast<png_uint_32>(height);
  png.width = static_cast<png_uint_32>(width);
  return png;
}

}  // namespace

Result<std::vector<uint8_t>> EncodePng(const Thumbnail& image) {
  const auto side_allowed = [](int64_t side) { return side >= 1 && side <= kLongestPngSide; };
  if (!side_allowed(image.height) || !side_allowed(image.width) ||
      (image.channels != 1 && image.channels != 3) ||
      static_cast<int64_t>(image.pixels.size()) != image.height * image.width * image.channels) {
    return Status(ErrorCode::kBadData,
                  Text("a thumbnail of ", image.height, " x ", image.width, " x ", image.channels,
                       " with ", image.pixels.size(), " pixel values; sides may be 1 to ",
                       kLongestPngSide, ", channels 1 or 3, and the values their product"));
  }
  png_image png = PngImage(image.height, image.width);
  png.format = image.channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  std::vector<uint8_t> bytes(PNG_IMAGE_PNG_SIZE_MAX(png));
  png_alloc_size_t size = bytes.size();
  if (png_image_write_to_memory(&png, bytes.data(), &size, 0, image.pixels.data(), 0, nullptr) ==
      0) {
    return Status(ErrorCode::kResourceExhausted,
                  Text("a thumbnail could not be written as PNG: ", png.message));
  }
  bytes.resize(size);
  return bytes;
}

bool IsPng(std::span<const uint8_t> bytes, int64_t height, int64_t width) {
  png_image png = PngImage(0, 0);
  const bool read = png_image_begin_read_from_memory(&png, bytes.data(), bytes.size()) != 0;
  const bool fits = read && png.width == width && png.height == height;
  png_image_free(&png);
  return fits;
}

}  // namespace resmem
