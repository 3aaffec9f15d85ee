#include <png.h>

#include <cstring>

#include "images/decode.h"
#include "support/text.h"

namespace resmem {
namespace {

// libpng reports an error by longjmp: the functions that call setjmp own nothing with a
// destructor, all of that is here.
class PngReader {
 public:
  explicit PngReader(ByteSpan bytes) : bytes_(bytes) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, OnError, [](auto...) {});
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
  }
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  bool started() const { return info_ != nullptr; }
  const char* problem() const { return problem_; }
  const ImageShape& shape() const { return shape_; }

  // Everything before the pixels.
  bool ReadHeader() {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    constexpr png_uint_32 kMaxSide = kMaxImageSide;
    constexpr png_alloc_size_t kMaxChunk = 8 << 20;
    constexpr png_uint_32 kMaxChunks = 128;
    png_set_user_limits(png_, kMaxSide, kMaxSide);
    png_set_chunk_malloc_max(png_, kMaxChunk);
    png_set_chunk_cache_max(png_, kMaxChunks);
    png_set_read_fn(png_, this, OnRead);
    png_read_info(png_, info_);
    const int color = png_get_color_type(png_, info_);
    if (color == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png_);
    if (color == PNG_COLOR_TYPE_GRAY) png_set_expand_gray_1_2_4_to_8(png_);
    png_set_strip_16(png_);
    png_set_strip_alpha(png_);
    passes_ = png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    shape_ = {png_get_image_height(png_, info_), png_get_image_width(png_, info_),
              png_get_channels(png_, info_)};
    return true;
  }

  // shape().bytes() values.
  bool ReadPixels(uint8_t* pixels) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    for (int pass = 0; pass < passes_; ++pass) {
      for (int64_t y = 0; y < shape_.height; ++y) {
        png_read_row(png_, pixels + y * shape_.width * shape_.channels, nullptr);
      }
    }
    png_read_end(png_, nullptr);
    return true;
  }

 private:
  static void OnRead(png_structp png, png_bytep out, size_t count) {
    auto* reader = static_cast<PngReader*>(png_get_io_ptr(png));
    if (count > reader->bytes_.size()) png_error(png, "the file ends too early");
    std::memcpy(out, reader->bytes_.data(), count);
    reader->bytes_ = reader->bytes_.subspan(count);
  }
  [[noreturn]] static void OnError(png_structp png, png_const_charp message) {
    auto* reader = static_cast<PngReader*>(png_get_error_ptr(png));
    std::strncpy(reader->problem_, message, sizeof(reader->problem_) - 1);
    png_longjmp(png, 1);
  }

  ByteSpan bytes_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  int passes_ = 1;
  ImageShape shape_;
  char problem_[160] = {};
};

Status Damaged(const std::string& name, const PngReader& reader) {
  return {ErrorCode::kBadData, Text(name, ": the PNG file is damaged (", reader.problem(),
                                    "); replace it or take it away")};
}

}  // namespace

Status DecodePng(const std::string& name, ByteSpan bytes, Image* image, int64_t most_pixels) {
  PngReader reader(bytes);
  if (!reader.started()) {
    return {ErrorCode::kResourceExhausted, Text(name, ": no memory to decode it")};
  }
  if (!reader.ReadHeader()) return Damaged(name, reader);
  RESMEM_RETURN_IF_ERROR(CheckImageShape(name, reader.shape(), most_pixels));
  image->shape = reader.shape();
  image->pixels.resize(static_cast<size_t>(image->shape.bytes()));
  return reader.ReadPixels(image->pixels.data()) ? Status() : Damaged(name, reader);
}

}  // namespace resmem
