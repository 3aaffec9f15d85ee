#include <csetjmp>
#include <cstdio>
// jpeglib.h needs the two above.
#include <jerror.h>
#include <jpeglib.h>

#include "images/decode.h"
#include "support/text.h"

namespace resmem {
namespace {

// A progressive image of a few kilobytes can ask for hours of scans.
constexpr int kMaxScans = 200;
constexpr long kMaxWorkMemory = 512L << 20;

// Warnings after which all pixels are there.
bool Harmless(int warning) {
  return warning == JWRN_ADOBE_XFORM || warning == JWRN_BOGUS_PROGRESSION ||
         warning == JWRN_EXTRANEOUS_DATA || warning == JWRN_JFIF_MAJOR ||
         warning == JWRN_TOO_MUCH_DATA;
}

// libjpeg reports an error by a function that must not return: ours jumps.  The functions that
// call setjmp own nothing with a destructor, all of that is here.
class JpegReader {
 public:
  JpegReader() {
    jpeg_.err = jpeg_std_error(&errors_);
    jpeg_.client_data = this;
    errors_.error_exit = OnError;
    errors_.emit_message = OnMessage;
    errors_.output_message = [](j_common_ptr) {};
    monitor_.progress_monitor = OnProgress;
  }
  ~JpegReader() { jpeg_destroy_decompress(&jpeg_); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  const char* problem() const { return problem_; }
  // Of ReadHeader(): as stored.
  ImageShape shape() const {
    return {jpeg_.image_height, jpeg_.image_width, jpeg_.num_components == 1 ? 1 : 3};
  }

  bool ReadHeader(ByteSpan bytes) {
    if (setjmp(jump_) != 0) return false;
    jpeg_create_decompress(&jpeg_);
    jpeg_.progress = &monitor_;
    jpeg_.mem->max_memory_to_use = kMaxWorkMemory;
    jpeg_mem_src(&jpeg_, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    jpeg_read_header(&jpeg_, TRUE);
    return true;
  }

  // `line` holds one row of 4 values a pixel, for what libjpeg does not convert itself.
  bool ReadPixels(uint8_t* pixels, uint8_t* line) {
    if (setjmp(jump_) != 0) return false;
    const int stored = jpeg_.num_components;
    jpeg_.out_color_space = stored == 1 ? JCS_GRAYSCALE : stored == 4 ? JCS_CMYK : JCS_RGB;
    jpeg_start_decompress(&jpeg_);
    const int64_t row_bytes = shape().width * shape().channels;
    while (jpeg_.output_scanline < jpeg_.output_height) {
      uint8_t* out = pixels + jpeg_.output_scanline * row_bytes;
      JSAMPROW row = stored == 4 ? line : out;
      jpeg_read_scanlines(&jpeg_, &row, 1);
      if (stored == 4) FromCmyk(line, jpeg_.output_width, jpeg_.saw_Adobe_marker != 0, out);
    }
    jpeg_finish_decompress(&jpeg_);
    return true;
  }

 private:
  static JpegReader& Of(j_common_ptr jpeg) { return *static_cast<JpegReader*>(jpeg->client_data); }

  [[noreturn]] static void OnError(j_common_ptr jpeg) {
    JpegReader& reader = Of(jpeg);
    jpeg->err->format_message(jpeg, reader.problem_);
    std::longjmp(reader.jump_, 1);
  }
  static void OnMessage(j_common_ptr jpeg, int level) {
    if (level < 0 && !Harmless(jpeg->err->msg_code)) OnError(jpeg);
  }
  static void OnProgress(j_common_ptr jpeg) {
    if (Of(jpeg).jpeg_.input_scan_number <= kMaxScans) return;
    std::snprintf(Of(jpeg).problem_, sizeof(problem_), "more than %d scans", kMaxScans);
    std::longjmp(Of(jpeg).jump_, 1);
  }

  // Adobe's programs store the four inks inverted.
  static void FromCmyk(const uint8_t* line, size_t width, bool inverted, uint8_t* out) {
    for (size_t x = 0; x < width; ++x) {
      const int black = inverted ? line[4 * x + 3] : 255 - line[4 * x + 3];
      for (size_t channel = 0; channel < 3; ++channel) {
        const int ink = inverted ? line[4 * x + channel] : 255 - line[4 * x + channel];
        out[3 * x + channel] = static_cast<uint8_t>((ink * black + 127) / 255);
      }
    }
  }

  jpeg_decompress_struct jpeg_{};
  jpeg_error_mgr errors_{};
  jpeg_progress_mgr monitor_{};
  std::jmp_buf jump_{};
  char problem_[JMSG_LENGTH_MAX] = {};
};

Status Damaged(const std::string& name, const JpegReader& reader) {
  return {ErrorCode::kBadData, Text(name, ": the JPEG file is damaged (", reader.problem(),
                                    "); replace it or take it away")};
}

}  // namespace

Status DecodeJpeg(const std::string& name, ByteSpan bytes, Image* image, int64_t most_pixels) {
  JpegReader reader;
  if (!reader.ReadHeader(bytes)) return Damaged(name, reader);
  RESMEM_RETURN_IF_ERROR(CheckImageShape(name, reader.shape(), most_pixels));
  image->shape = reader.shape();
  image->pixels.resize(static_cast<size_t>(image->shape.bytes()));
  std::vector<uint8_t> line(static_cast<size_t>(image->shape.width) * 4);
  return reader.ReadPixels(image->pixels.data(), line.data()) ? Status() : Damaged(name, reader);
}

}  // namespace resmem
