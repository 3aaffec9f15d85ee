#include "images/array_images.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "support/checked_math.h"
#include "support/text.h"

namespace resmem {
namespace {

bool IsChannelCount(int64_t extent) {
  return extent == 1 || extent == 3;
}

// Where the value of (y, x, channel) lies, in bytes from the first of its image.
struct PixelLayout {
  ImageShape shape;
  int64_t y_stride = 0, x_stride = 0, channel_stride = 0;

  bool interleaved() const {
    return channel_stride == 1 && x_stride == shape.channels &&
           y_stride == shape.width * shape.channels;
  }
};

Result<PixelLayout> FindPixels(const std::string& name, const Layout& layout) {
  const std::vector<int64_t>& shape = layout.shape;
  const std::vector<int64_t>& strides = layout.strides;
  PixelLayout pixels;
  if (layout.type == ElementType::kUInt8 && shape.size() == 3) {
    pixels = {{shape[1], shape[2], 1}, strides[1], strides[2], 1};
  } else if (layout.type == ElementType::kUInt8 && shape.size() == 4 && IsChannelCount(shape[3])) {
    pixels = {{shape[1], shape[2], shape[3]}, strides[1], strides[2], strides[3]};
  } else if (layout.type == ElementType::kUInt8 && shape.size() == 4 && IsChannelCount(shape[1])) {
    pixels = {{shape[2], shape[3], shape[1]}, strides[2], strides[3], strides[1]};
  } else {
    return Status(ErrorCode::kBadData,
                  Text(name, ": holds ", ShapeText(shape), " ", ElementTypeName(layout.type),
                       ", but images are N x height x width uint8, with 1 or 3 channels after "
                       "or before height and width; export them so"));
  }
  RESMEM_RETURN_IF_ERROR(CheckImageShape(name, pixels.shape));
  return pixels;
}

void CopyPixels(const PixelLayout& layout, const std::byte* from, uint8_t* to) {
  const ImageShape& shape = layout.shape;
  if (layout.interleaved()) {
    std::memcpy(to, from, static_cast<size_t>(shape.bytes()));
    return;
  }
  for (int64_t y = 0; y < shape.height; ++y) {
    for (int64_t channel = 0; channel < shape.channels; ++channel) {
      const std::byte* source = from + y * layout.y_stride + channel * layout.channel_stride;
      uint8_t* target = to + y * shape.width * shape.channels + channel;
      for (int64_t x = 0; x < shape.width; ++x) {
        target[x * shape.channels] = std::to_integer<uint8_t>(source[x * layout.x_stride]);
      }
    }
  }
}

class ArrayImages final : public ImageStore {
 public:
  struct Part {
    StoragePointer array;
    PixelLayout pixels;
    int64_t end = 0;  // the first row after this part
  };
  explicit ArrayImages(std::vector<Part> parts) : parts_(std::move(parts)) {}

  int64_t size() const override { return parts_.back().end; }

  Status Read(int64_t row, Image* image) const override {
    const Part& part = PartOf(row);
    const Layout& layout = part.array->layout;
    image->shape = part.pixels.shape;
    image->pixels.resize(static_cast<size_t>(image->shape.bytes()));
    CopyPixels(
        part.pixels,
        part.array->bytes->bytes().data() + layout.offset + RowIn(part, row) * layout.row_stride(),
        image->pixels.data());
    return {};
  }

  std::string name(int64_t row) const override {
    const Part& part = PartOf(row);
    return Text(part.array->name, ":", RowIn(part, row));
  }

 private:
  const Part& PartOf(int64_t row) const {
    return *std::upper_bound(parts_.begin(), parts_.end(), row,
                             [](int64_t r, const Part& part) { return r < part.end; });
  }
  static int64_t RowIn(const Part& part, int64_t row) {
    return row - (part.end - part.array->layout.rows());
  }

  std::vector<Part> parts_;
};

}  // namespace

Result<std::unique_ptr<ImageStore>> MakeArrayImages(std::vector<StoragePointer> arrays) {
  std::vector<ArrayImages::Part> parts;
  int64_t end = 0;
  for (StoragePointer& array : arrays) {
    const std::string& name = array->name;
    RESMEM_ASSIGN_OR_RETURN(const PixelLayout pixels, FindPixels(name, array->layout));
    if (array->layout.rows() == 0) {
      return Status(ErrorCode::kBadData, Text(name, ": holds no image"));
    }
    if (!parts.empty() && pixels.shape != parts.front().pixels.shape) {
      return Status(
          ErrorCode::kBadData,
          Text(name, ": its images are ", ImageShapeText(pixels.shape), ", but those of ",
               parts.front().array->name, " are ", ImageShapeText(parts.front().pixels.shape)));
    }
    end += array->layout.rows();
    parts.push_back({std::move(array), pixels, end});
  }
  return std::unique_ptr<ImageStore>(new ArrayImages(std::move(parts)));
}

}  // namespace resmem
