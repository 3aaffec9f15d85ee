// Images as a base model reads them: 8 bits per channel, all of one shape.
//
//   CIFAR-10, CIFAR-100   .bin, .bin.xz, .bin.gz, or the folder that holds train and test
//   IDX (MNIST)           an images file, its labels file beside it, or the folder
//   .npy  .npz:member     uint8, N x H x W [x C] or N x C x H x W
//   folders of classes    PNG, JPEG and WebP files, the class is the name of the subfolder
//   PNG, JPEG             one file, several, or a folder of them: without labels
//
// Arrays stay in memory or in the map; image files are decoded when they are read.  The pixels
// of a row never depend on the thread count, nor on which rows were read before.
#ifndef RESMEM_MODELS_IMAGE_SET_H_
#define RESMEM_MODELS_IMAGE_SET_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "resmem/status.h"

namespace resmem {

struct ImageShape {
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 0;  // 1: gray, 3: RGB

  int64_t bytes() const { return height * width * channels; }
  bool operator==(const ImageShape&) const = default;
};
std::string ImageShapeText(const ImageShape& shape);  // "32 x 32 x 3"

struct ImageSetSource {
  std::string path;
  // Image files instead of `path`, without labels.
  std::vector<std::string> files;
  // "train" or "test", of a folder that holds both; "test" also finds a subfolder val.
  std::string part;
  // An array of whole numbers, one per image, instead of the labels found with them.
  std::string labels;
  // What Read() gives.  Not set: the shape of the first image.  Gray images become RGB if
  // 3 channels are wanted; color is never dropped.
  std::optional<ImageShape> shape;
  // Each image's shorter side is resized to this (bilinear with antialias, as in Pillow) and the
  // center cropped.  0: every image must already have the shape.
  int64_t resize = 0;
  // The model's classes.  If given, a class folder's label is the index of its name in here, so
  // that a folder with some of the classes has the right labels; else folders are numbered in the
  // order of their names.
  std::vector<std::string> class_names;
  // How many classes the model has, 0 if unknown.  Without names, class folders are numbered only
  // if there are as many of them: which class a folder of fewer is, nothing says.
  int64_t classes = 0;
};

// Movable, immutable: const methods may be called from any number of threads.
class ImageSet {
 public:
  // Errors: kNotFound, kBadData (a damaged or absurd file, a label out of range), kMismatch (an
  // image that cannot have the wanted shape), kInvalidArgument, kIo, kResourceExhausted.
  static Result<ImageSet> Open(const ImageSetSource& source);
  ImageSet(ImageSet&&) noexcept;
  ImageSet& operator=(ImageSet&&) noexcept;
  ~ImageSet();

  int64_t size() const;
  const ImageShape& shape() const;

  // Images [begin, begin + count), or those at `rows`, into `out`: one after the other, each
  // height x width x channels bytes with the channels of a pixel side by side.  `threads` decode
  // (0: all processors).
  Status Read(int64_t begin, int64_t count, std::span<uint8_t> out, int threads = 1) const;
  Status ReadRows(std::span<const int64_t> rows, std::span<uint8_t> out, int threads = 1) const;

  // One per image; empty if unknown.
  const std::vector<int32_t>& labels() const;
  const std::vector<int32_t>& coarse_labels() const;  // CIFAR-100's 20 superclasses
  // Empty if unknown.
  const std::vector<std::string>& class_names() const;
  const std::vector<std::string>& coarse_class_names() const;

  // Where an image came from: its path, or "train.bin:17" for the 18th of a file.
  std::string name(int64_t row) const;
  // Every file that was opened, or the folder of image files.
  const std::vector<std::string>& paths() const;
  // What was left out and why, a sentence each; for the user to see.
  const std::vector<std::string>& notes() const;

 private:
  struct State;
  explicit ImageSet(std::unique_ptr<const State> state);
  std::unique_ptr<const State> state_;
};

}  // namespace resmem

#endif  // RESMEM_MODELS_IMAGE_SET_H_
