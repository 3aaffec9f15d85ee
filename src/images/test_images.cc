#include "images/test_images.h"

#include <lzma.h>
#include <zlib.h>

#include <cstdio>
#include <cstdlib>
// jpeglib.h needs cstdio.
#include <jpeglib.h>

namespace resmem {
namespace {

std::string BigEndian(uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(value >> shift));
  return bytes;
}

}  // namespace

std::string CifarRecord(const std::string& labels, uint8_t blue) {
  std::string record = labels;
  for (int channel = 0; channel < 3; ++channel) {
    for (int y = 0; y < 32; ++y) {
      for (int x = 0; x < 32; ++x) {
        record.push_back(static_cast<char>(channel == 0 ? y : channel == 1 ? x : blue));
      }
    }
  }
  return record;
}

std::string XzText(const std::string& content) {
  std::string packed(lzma_stream_buffer_bound(content.size()), '\0');
  size_t size = 0;
  const lzma_ret code = lzma_easy_buffer_encode(
      1, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const uint8_t*>(content.data()),
      content.size(), reinterpret_cast<uint8_t*>(packed.data()), &size, packed.size());
  EXPECT_EQ(code, LZMA_OK);
  packed.resize(size);
  return packed;
}

std::string PngChunk(const std::string& type, const std::string& data) {
  const std::string body = type + data;
  const auto crc =
      crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return BigEndian(static_cast<uint32_t>(data.size())) + body +
         BigEndian(static_cast<uint32_t>(crc));
}

std::string PngText(const PngParts& parts) {
  std::string packed(compressBound(parts.lines.size()), '\0');
  auto size = static_cast<uLongf>(packed.size());
  compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
            reinterpret_cast<const Bytef*>(parts.lines.data()), parts.lines.size(), 6);
  packed.resize(size);
  const std::string header =
      BigEndian(parts.width) + BigEndian(parts.height) +
      std::string({static_cast<char>(parts.bits), static_cast<char>(parts.color), 0, 0, 0});
  return "\x89PNG\r\n\x1a\n" + PngChunk("IHDR", header) + parts.chunks + PngChunk("IDAT", packed) +
         PngChunk("IEND", "");
}

std::string JpegText(const ImageShape& shape, const std::string& pixels, bool progressive) {
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &bytes, &size);
  jpeg.image_height = static_cast<JDIMENSION>(shape.height);
  jpeg.image_width = static_cast<JDIMENSION>(shape.width);
  jpeg.input_components = static_cast<int>(shape.channels);
  jpeg.in_color_space = shape.channels == 1   ? JCS_GRAYSCALE
                        : shape.channels == 4 ? JCS_CMYK
                                              : JCS_RGB;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, 100, TRUE);
  if (progressive) jpeg_simple_progression(&jpeg);
  jpeg_start_compress(&jpeg, TRUE);
  std::string copy = pixels;
  while (jpeg.next_scanline < jpeg.image_height) {
    auto* row = reinterpret_cast<JSAMPROW>(copy.data()) +
                static_cast<int64_t>(jpeg.next_scanline) * shape.width * shape.channels;
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  std::string text(reinterpret_cast<const char*>(bytes), size);
  std::free(bytes);
  return text;
}

}  // namespace resmem
