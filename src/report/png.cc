#include "report/png.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "support/text.h"

namespace resmem {
namespace {

constexpr int64_t kLongestPngSide = 4096;
constexpr std::array<uint8_t, 8> kSignature = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

void AppendBigEndian(uint32_t value, std::vector<uint8_t>* out) {
  for (int shift = 24; shift >= 0; shift -= 8) out->push_back(static_cast<uint8_t>(value >> shift));
}

uint32_t ReadBigEndian(std::span<const uint8_t> bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = value << 8 | bytes[at + i];
  return value;
}

void AppendChunk(std::string_view type, std::span<const uint8_t> data, std::vector<uint8_t>* out) {
  AppendBigEndian(static_cast<uint32_t>(data.size()), out);
  const size_t checked_from = out->size();
  out->insert(out->end(), type.begin(), type.end());
  out->insert(out->end(), data.begin(), data.end());
  const uLong checksum =
      crc32(0, out->data() + checked_from, static_cast<uInt>(out->size() - checked_from));
  AppendBigEndian(static_cast<uint32_t>(checksum), out);
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
  const size_t line = static_cast<size_t>(image.width * image.channels);
  std::vector<uint8_t> lines;  // each with its filter type in front
  lines.reserve((line + 1) * static_cast<size_t>(image.height));
  for (size_t y = 0; y < static_cast<size_t>(image.height); ++y) {
    lines.push_back(0);
    const auto begin = image.pixels.begin() + static_cast<std::ptrdiff_t>(y * line);
    lines.insert(lines.end(), begin, begin + static_cast<std::ptrdiff_t>(line));
  }
  uLongf size = compressBound(lines.size());
  std::vector<uint8_t> compressed(size);
  if (compress2(compressed.data(), &size, lines.data(), lines.size(), Z_BEST_COMPRESSION) != Z_OK) {
    return Status(ErrorCode::kResourceExhausted, "no memory left to compress a thumbnail");
  }
  compressed.resize(size);

  std::vector<uint8_t> png(kSignature.begin(), kSignature.end());
  std::vector<uint8_t> header;
  AppendBigEndian(static_cast<uint32_t>(image.width), &header);
  AppendBigEndian(static_cast<uint32_t>(image.height), &header);
  const uint8_t color_type = image.channels == 3 ? 2 : 0;
  for (const uint8_t value : {uint8_t{8}, color_type, uint8_t{0}, uint8_t{0}, uint8_t{0}}) {
    header.push_back(value);
  }
  AppendChunk("IHDR", header, &png);
  AppendChunk("IDAT", compressed, &png);
  AppendChunk("IEND", {}, &png);
  return png;
}

bool IsPng(std::span<const uint8_t> bytes, int64_t height, int64_t width) {
  constexpr size_t kHeaderEnd = 8 + 8 + 13 + 4;
  return bytes.size() >= kHeaderEnd &&
         std::equal(kSignature.begin(), kSignature.end(), bytes.begin()) &&
         ReadBigEndian(bytes, 16) == width && ReadBigEndian(bytes, 20) == height;
}

}  // namespace resmem
