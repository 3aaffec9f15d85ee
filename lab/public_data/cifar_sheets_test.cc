#include "public_data/cifar_sheets.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "fixtures/small_memory.h"
#include "report/png.h"
#include "resmem/models/image_set.h"

namespace resmem {
namespace {

namespace fs = std::filesystem;
using fixtures::TemporaryFolder;

constexpr int64_t kImages = 2, kLine = 1024;  // pixels of an image, a line of the sheet
constexpr const char* kSheets[] = {"data_batch_1", "data_batch_2", "data_batch_3",
                                   "data_batch_4", "data_batch_5", "test_batch"};

// Of each place another.
uint8_t PixelOf(size_t sheet, int64_t image, int64_t pixel, int64_t channel) {
  return static_cast<uint8_t>(40 * static_cast<int64_t>(sheet) + 100 * image + 7 * pixel / 3 +
                              31 * channel);
}

void WriteSheet(const std::string& folder, size_t sheet, int64_t width = kLine) {
  Thumbnail image{kImages, width, 3, {}};
  for (int64_t i = 0; i < kImages; ++i) {
    for (int64_t pixel = 0; pixel < width; ++pixel) {
      for (int64_t c = 0; c < 3; ++c) image.pixels.push_back(PixelOf(sheet, i, pixel, c));
    }
  }
  const auto png = EncodePng(image);
  ASSERT_TRUE(png.ok());
  std::ofstream(folder + "/" + kSheets[sheet] + ".png", std::ios::binary)
      .write(reinterpret_cast<const char*>(png->data()), static_cast<std::streamsize>(png->size()));
}

void WritePackage(const std::string& folder) {
  for (size_t sheet = 0; sheet < std::size(kSheets); ++sheet) WriteSheet(folder, sheet);
  std::ofstream(folder + "/train_lables.json") << "[6,9,9,4,1,1,2,7,8,3]";
  std::ofstream(folder + "/test_lables.json") << "[3,8]";
  std::ofstream(folder + "/package.json") << "{}";
}

TEST(CifarSheets, BecomeTheOriginalsFiles) {
  const TemporaryFolder folder;
  const std::string path = folder / "c";
  fs::create_directory(path);
  WritePackage(path);
  const Status status = ConvertCifarSheets(path, kImages);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(std::distance(fs::directory_iterator(path), fs::directory_iterator()), 7);
  EXPECT_EQ(fs::file_size(path + "/data_batch_1.bin"), 2 * 3073u);

  ImageSetSource source;
  source.path = path;
  source.part = "train";
  const auto train = ImageSet::Open(source);
  ASSERT_TRUE(train.ok()) << train.status().message();
  EXPECT_EQ(train->labels(), (std::vector<int32_t>{6, 9, 9, 4, 1, 1, 2, 7, 8, 3}));
  EXPECT_EQ(train->class_names()[6], "frog");
  std::vector<uint8_t> pixels(static_cast<size_t>(kLine * 3));
  for (int64_t row = 0; row < train->size(); ++row) {
    ASSERT_TRUE(train->Read(row, 1, pixels).ok());
    for (int64_t i = 0; i < kLine * 3; ++i) {
      ASSERT_EQ(pixels[static_cast<size_t>(i)],
                PixelOf(static_cast<size_t>(row / 2), row % 2, i / 3, i % 3))
          << row << ' ' << i;
    }
  }
  source.part = "test";
  const auto test = ImageSet::Open(source);
  ASSERT_TRUE(test.ok());
  EXPECT_EQ(test->labels(), (std::vector<int32_t>{3, 8}));
}

TEST(CifarSheets, ThatAreDamagedAreRefused) {
  const TemporaryFolder folder;
  int count = 0;
  const auto refused = [&](const auto& damage) {
    const std::string path = folder / std::to_string(count++);
    fs::create_directory(path);
    WritePackage(path);
    damage(path);
    return ConvertCifarSheets(path, kImages).code();
  };
  EXPECT_EQ(refused([](const std::string& path) { fs::remove(path + "/test_batch.png"); }),
            ErrorCode::kNotFound);
  EXPECT_EQ(refused([](const std::string& path) { fs::remove(path + "/test_lables.json"); }),
            ErrorCode::kNotFound);
  EXPECT_EQ(refused([](const std::string& path) {
              std::ofstream(path + "/test_lables.json") << "[3,8,1]";
            }),
            ErrorCode::kBadData);
  EXPECT_EQ(refused([](const std::string& path) {
              std::ofstream(path + "/test_lables.json") << "[3,18]";
            }),
            ErrorCode::kBadData);
  EXPECT_EQ(refused([](const std::string& path) { WriteSheet(path, 2, kLine - 1); }),
            ErrorCode::kMismatch);
  EXPECT_EQ(refused([](const std::string& path) {
              std::ofstream(path + "/data_batch_3.png") << "no image";
            }),
            ErrorCode::kBadData);
}

}  // namespace
}  // namespace resmem
