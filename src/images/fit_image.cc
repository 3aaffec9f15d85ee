#include "images/fit_image.h"

#include <algorithm>
#include <cstring>

#include "images/resample.h"
#include "support/text.h"

namespace resmem {
namespace {

// Half of what is cut away lies before the center; of an odd number the even half, as
// torchvision's CenterCrop has it.
int64_t CropBegin(int64_t length, int64_t kept) {
  const int64_t cut = length - kept;
  const int64_t half = cut / 2;
  return cut % 2 == 1 && half % 2 == 1 ? half + 1 : half;
}

// Gray to RGB, or a copy.
void ExpandChannels(std::span<const uint8_t> from, int64_t channels, std::span<uint8_t> to) {
  if (from.size() == to.size()) {
    std::memcpy(to.data(), from.data(), to.size());
    return;
  }
  const auto copies = static_cast<size_t>(channels);
  for (size_t i = 0; i < from.size(); ++i) {
    std::fill_n(to.begin() + static_cast<std::ptrdiff_t>(i * copies), copies, from[i]);
  }
}

}  // namespace

Status CheckImageShape(const std::string& name, const ImageShape& shape, int64_t most) {
  const bool sides = shape.height > 0 && shape.height <= kMaxImageSide && shape.width > 0 &&
                     shape.width <= kMaxImageSide && shape.height * shape.width <= most;
  if (sides && (shape.channels == 1 || shape.channels == 3)) return {};
  return {ErrorCode::kBadData,
          Text(name, ": an image of ", ImageShapeText(shape), "; allowed are 1 to ", kMaxImageSide,
               " pixels a side, at most ", most, " in all, with 1 or 3 channels")};
}

Result<ImageFit> MakeImageFit(const ImageShape& shape, int64_t resize) {
  const Status status = CheckImageShape("the wanted shape", shape);
  if (!status.ok()) return Status(ErrorCode::kInvalidArgument, status.message());
  const int64_t longest = std::max(shape.height, shape.width);
  if (resize != 0 && (resize < longest || resize > kMaxImageSide)) {
    return Status(
        ErrorCode::kInvalidArgument,
        Text("images resized to ", resize, " pixels cannot give a cut of ", ImageShapeText(shape),
             "; resize to ", longest, " or more, at most ", kMaxImageSide));
  }
  return ImageFit{shape, resize};
}

Status FitImage(const ImageFit& fit, const Image& image, std::span<uint8_t> out) {
  const ImageShape& from = image.shape;
  const ImageShape& to = fit.shape;
  if (from.channels > to.channels) {
    return {ErrorCode::kMismatch,
            "is in color, but the model reads gray images; convert it to gray first"};
  }
  if (fit.resize == 0 && (from.height != to.height || from.width != to.width)) {
    return {ErrorCode::kMismatch,
            Text("is ", from.height, " x ", from.width, " pixels (height x width), but ", to.height,
                 " x ", to.width, " are needed; have it resized (--resize ",
                 std::max(to.height, to.width), ")")};
  }
  if (fit.resize == 0) {
    ExpandChannels(image.pixels, to.channels, out);
    return {};
  }
  const int64_t shorter = std::min(from.height, from.width);
  const int64_t longer = fit.resize * std::max(from.height, from.width) / shorter;
  const int64_t height = from.height == shorter ? fit.resize : longer;
  const int64_t width = from.width == shorter ? fit.resize : longer;
  const std::vector<uint8_t> cut =
      Resample(image, {height, CropBegin(height, to.height), to.height},
               {width, CropBegin(width, to.width), to.width});
  ExpandChannels(cut, to.channels, out);
  return {};
}

}  // namespace resmem
