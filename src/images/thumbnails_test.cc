#include <gtest/gtest.h>

#include <fstream>

#include "fixtures/small_memory.h"
#include "resmem/models/thumbnails.h"

namespace resmem {
namespace {

// A headerless array of bytes 0, 1, 2, ... in `shape`.
Array OpenBytes(const std::string& path, const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  std::string bytes;
  for (int64_t i = 0; i < count; ++i) bytes += static_cast<char>(i % 256);
  std::ofstream(path, std::ios::binary) << bytes;
  ArraySource source;
  source.path = path;
  source.raw_shape = shape;
  source.raw_type = ElementType::kUInt8;
  Result<Array> array = OpenArray(source);
  EXPECT_TRUE(array.ok()) << array.status().message();
  return std::move(array).value();
}

TEST(Images, ShapeTellsTheLayout) {
  const fixtures::TemporaryFolder folder;
  const Array grey = OpenBytes(folder / "grey", {2, 3, 4});
  const Result<ImageLayout> grey_layout = GuessImageLayout(grey);
  ASSERT_TRUE(grey_layout.ok());
  EXPECT_EQ(grey_layout->height, 3);
  EXPECT_EQ(grey_layout->width, 4);
  const Array planar = OpenBytes(folder / "planar", {2, 3, 4, 5});
  const Result<ImageLayout> planar_layout = GuessImageLayout(planar);
  ASSERT_TRUE(planar_layout.ok());
  EXPECT_TRUE(planar_layout->planar);
  EXPECT_EQ(planar_layout->channels, 3);
  const Array cifar = OpenBytes(folder / "cifar", {1, 3072});
  EXPECT_TRUE(GuessImageLayout(cifar)->planar);
  const Array table = OpenBytes(folder / "table", {4, 9});
  EXPECT_EQ(GuessImageLayout(table).status().code(), ErrorCode::kBadData);
}

TEST(Images, PlanarPixelsAreInterleaved) {
  const fixtures::TemporaryFolder folder;
  const Array images = OpenBytes(folder / "images", {2, 3, 1, 2});
  const Result<Thumbnail> image = ReadThumbnail(images, {1, 2, 3, true}, 1);
  ASSERT_TRUE(image.ok());
  EXPECT_EQ(image->pixels, (std::vector<uint8_t>{6, 8, 10, 7, 9, 11}));
}

TEST(Images, LargeImagesAreShrunkByAWholeFactor) {
  const fixtures::TemporaryFolder folder;
  const Array images = OpenBytes(folder / "images", {1, 256, 256});
  const Result<Thumbnail> image = ReadThumbnail(images, {256, 256, 1, false}, 0);
  ASSERT_TRUE(image.ok());
  EXPECT_EQ(image->height, 128);
  EXPECT_EQ(image->pixels[1], 2);  // the mean of 2, 3, 2, 3, rounded down
}

TEST(Images, RowBeyondTheArrayIsRefused) {
  const fixtures::TemporaryFolder folder;
  const Array images = OpenBytes(folder / "images", {2, 3, 4});
  EXPECT_EQ(ReadThumbnail(images, {3, 4, 1, false}, 2).status().code(), ErrorCode::kNotFound);
  EXPECT_EQ(ReadThumbnail(images, {3, 5, 1, false}, 0).status().code(), ErrorCode::kBadData);
}

}  // namespace
}  // namespace resmem
