#include "reproduce/imagenet/photos.h"

#include <gtest/gtest.h>
#include <png.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace resmem::cli::reproduce::imagenet {
namespace {

namespace fs = std::filesystem;

// Image files made here; they are called .JPEG as ImageNet's are, whatever they hold.
class PhotosTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "resmem_photos_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = folder_ + "/" + name;
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path) << text;
    return path;
  }
  // Each pixel is (x, y, 7).
  static Image Ramp(int64_t height, int64_t width) {
    Image image{{height, width, 3}, {}};
    for (int64_t y = 0; y < height; ++y) {
      for (int64_t x = 0; x < width; ++x) {
        for (const int64_t value : {x, y, int64_t{7}}) {
          image.pixels.push_back(static_cast<uint8_t>(value));
        }
      }
    }
    return image;
  }
  std::vector<std::string> Names(const Photos& photos) const {
    std::vector<std::string> names;
    for (size_t i = 0; i < photos.files.size(); ++i) {
      names.push_back(photos.files[i].substr(folder_.size() + 1) + ":" +
                      std::to_string(photos.labels[i]));
    }
    return names;
  }
  using Texts = std::vector<std::string>;

  std::string folder_;
};

TEST_F(PhotosTest, ClassesAreReadAndMistakesAreTold) {
  Result<Classes> classes = ReadClasses(Write("classes.txt", "n02 25\nn01\t1\n\n"));
  ASSERT_TRUE(classes.ok()) << classes.status().message();
  EXPECT_EQ(classes->names, (Texts{"n02", "n01"}));
  EXPECT_EQ(classes->outputs, (std::vector<int64_t>{25, 1}));
  for (const std::string line :
       {"n03", "n03 x", "n03 -1", "n03 4 5", "n02 9", "n03 25", "n03 99999999999999999999"}) {
    const Status status = ReadClasses(Write("bad.txt", "n02 25\n" + line + "\n")).status();
    EXPECT_EQ(status.code(), ErrorCode::kBadData) << line;
    EXPECT_NE(status.message().find("bad.txt:2"), std::string::npos) << status.message();
  }
  EXPECT_EQ(ReadClasses(Write("one.txt", "n02 25\n")).status().code(), ErrorCode::kBadData);
}

TEST_F(PhotosTest, FoldersOfClassesInBothLayouts) {
  for (const char* const name : {"train/n02/b.JPEG", "train/n02/a.JPEG", "train/n02/notes.txt",
                                 "train/n01/images/c.JPEG", "train/n09/d.JPEG"}) {
    Write(name, "x");
  }
  Result<Classes> classes = ClassesOfFolders(folder_ + "/train");
  ASSERT_TRUE(classes.ok());
  EXPECT_EQ(classes->names, (Texts{"n01", "n02", "n09"}));
  EXPECT_EQ(classes->outputs, (std::vector<int64_t>{0, 1, 2}));
  const Classes some{{"n02", "n01"}, {5, 6}};
  Result<Photos> photos = FindPhotos(folder_ + "/train", some);
  ASSERT_TRUE(photos.ok()) << photos.status().message();
  EXPECT_EQ(Names(*photos),
            (Texts{"train/n01/images/c.JPEG:1", "train/n02/a.JPEG:0", "train/n02/b.JPEG:0"}));
  const DividedPhotos divided = DivideByClass(*photos, some, 1);
  EXPECT_EQ(Names(divided.first), (Texts{"train/n01/images/c.JPEG:1", "train/n02/a.JPEG:0"}));
  EXPECT_EQ(Names(divided.others), (Texts{"train/n02/b.JPEG:0"}));
}

TEST_F(PhotosTest, ListedPhotosOfTinyImageNetAndOfKaggle) {
  Write("val/images/v1.JPEG", "x");
  Write("val/images/v0.JPEG", "x");
  const Classes classes{{"n01", "n02"}, {0, 1}};
  EXPECT_EQ(FindPhotos(folder_ + "/val", classes).status().code(), ErrorCode::kNotFound);
  Write("val/val_annotations.txt", "v0.JPEG\tn02\t0\t0\t63\t63\nv1.JPEG\tn01\t0\t0\t1\t1\n");
  Result<Photos> photos = FindPhotos(folder_ + "/val", classes);
  ASSERT_TRUE(photos.ok()) << photos.status().message();
  EXPECT_EQ(Names(*photos), (Texts{"val/images/v1.JPEG:0", "val/images/v0.JPEG:1"}));
  photos = FindPhotos(folder_ + "/val", classes, Write("mine.txt", "v0 n01\nv1 n01\n"));
  ASSERT_TRUE(photos.ok()) << photos.status().message();
  EXPECT_EQ(photos->labels, (std::vector<int32_t>{0, 0}));

  Write("k/ILSVRC/Data/CLS-LOC/val/ILSVRC2012_val_00000001.JPEG", "x");
  Write("k/LOC_val_solution.csv",
        "ImageId,PredictionString\nILSVRC2012_val_00000001,n02 85 1 2 3\n");
  photos = FindPhotos(folder_ + "/k/ILSVRC/Data/CLS-LOC/val", classes);
  ASSERT_TRUE(photos.ok()) << photos.status().message();
  EXPECT_EQ(photos->labels, (std::vector<int32_t>{1}));
  Write("k/ILSVRC/Data/CLS-LOC/val/ILSVRC2012_val_00000002.JPEG", "x");
  photos = FindPhotos(folder_ + "/k/ILSVRC/Data/CLS-LOC/val", classes);
  EXPECT_EQ(photos.status().code(), ErrorCode::kBadData);
  EXPECT_NE(photos.status().message().find("00000002"), std::string::npos);
}

TEST_F(PhotosTest, NearestPixelIsTheOneAtTheCenterOfTheSquare) {
  // 6 x 10: the central square begins at column 2; of three pixels in a row the middle one is kept.
  Result<Image> reduced = Reduce(Ramp(6, 10), {"nearest", 2, true});
  ASSERT_TRUE(reduced.ok());
  EXPECT_EQ(reduced->shape, (ImageShape{2, 2, 3}));
  EXPECT_EQ(reduced->pixels, (std::vector<uint8_t>{3, 1, 7, 6, 1, 7, 3, 4, 7, 6, 4, 7}));
  // A photo that is smaller becomes larger.
  reduced = Reduce(Ramp(1, 1), {"nearest", 3, true});
  ASSERT_TRUE(reduced.ok());
  EXPECT_EQ(reduced->pixels.size(), 27u);
}

TEST_F(PhotosTest, SmoothReductionIsAMeanAndDiffersFromTheNearestPixel) {
  Image stripes{{8, 8, 1}, {}};
  for (int i = 0; i < 64; ++i) stripes.pixels.push_back(i % 2 == 0 ? 0 : 200);
  Result<Image> smooth = Reduce(stripes, {"smooth", 2, false});
  Result<Image> nearest = Reduce(stripes, {"nearest", 2, true});
  ASSERT_TRUE(smooth.ok() && nearest.ok());
  for (const uint8_t value : smooth->pixels) EXPECT_NEAR(value, 100, 15);
  for (const uint8_t value : nearest->pixels) EXPECT_TRUE(value == 0 || value == 200);
}

TEST_F(PhotosTest, FileIsDecodedReducedAndBroughtToTheNetworksSize) {
  const std::string path = folder_ + "/photo.JPEG";
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  png.width = 10;
  png.height = 6;
  png.format = PNG_FORMAT_RGB;
  const Image ramp = Ramp(6, 10);
  ASSERT_NE(png_image_write_to_file(&png, path.c_str(), 0, ramp.pixels.data(), 0, nullptr), 0);
  Result<ImageFit> fit = MakeImageFit({2, 2, 3}, 2);
  ASSERT_TRUE(fit.ok());
  std::vector<uint8_t> out(12);
  ASSERT_TRUE(ReadPhoto(path, {"nearest", 2, true}, *fit, out).ok());
  EXPECT_EQ(out, (std::vector<uint8_t>{3, 1, 7, 6, 1, 7, 3, 4, 7, 6, 4, 7}));
  const Status damaged = ReadPhoto(Write("damaged.JPEG", "no image"), {}, *fit, out);
  EXPECT_EQ(damaged.code(), ErrorCode::kBadData);
  EXPECT_NE(damaged.message().find("damaged.JPEG"), std::string::npos);
}

}  // namespace
}  // namespace resmem::cli::reproduce::imagenet
