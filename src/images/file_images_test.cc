// PNG and JPEG files in folders, and images that are brought to one shape.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "images/test_images.h"

namespace resmem {
namespace {

class FileImages : public ImageTest {
 protected:
  // An image of one gray value or color.
  std::string WritePng(const std::string& name, int height, int width, const std::string& pixel) {
    const std::filesystem::path path = folder_ + "/" + name;
    std::filesystem::create_directories(path.parent_path());
    std::string lines;
    for (int y = 0; y < height; ++y) {
      lines += '\0';
      for (int x = 0; x < width; ++x) lines += pixel;
    }
    return Write(name, PngText({static_cast<uint32_t>(width), static_cast<uint32_t>(height), 8,
                                pixel.size() == 1 ? 0 : 2, lines, ""}));
  }
};

TEST_F(FileImages, ClassFoldersAreNumberedByName) {
  WritePng("dog/1.png", 2, 2, "abc");
  WritePng("cat/2.PNG", 2, 2, "def");
  WritePng("cat/1.png", 2, 2, "ghi");
  const ImageSet set = MustOpen(At(folder_));
  EXPECT_EQ(set.size(), 3);
  EXPECT_EQ(set.labels(), (std::vector<int32_t>{0, 0, 1}));
  EXPECT_EQ(set.class_names(), (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(set.name(1), folder_ + "/cat/2.PNG");
  EXPECT_EQ(set.shape(), (ImageShape{2, 2, 3}));
  EXPECT_EQ(Pixels(set, 2, 1), Pixels(MustOpen(At(folder_ + "/dog/1.png")), 0, 1));
  EXPECT_TRUE(set.notes().empty());
}

TEST_F(FileImages, ModelsClassNamesNumberTheFolders) {
  WritePng("owl/1.png", 1, 1, "a");
  WritePng("ant/1.png", 1, 1, "a");
  ImageSetSource source = At(folder_);
  source.class_names = {"owl", "bee", "ant"};
  const ImageSet set = MustOpen(source);
  EXPECT_EQ(set.labels(), (std::vector<int32_t>{2, 0}));
  EXPECT_EQ(set.class_names(), source.class_names);
  source.class_names = {"owl", "bee"};
  ExpectRefused(source, ErrorCode::kMismatch, "\"ant\" is not the name of any of the model's 2");
  source.class_names = {"fly", "bee"};  // other names, but as many
  const ImageSet numbered = MustOpen(source);
  EXPECT_EQ(numbered.labels(), (std::vector<int32_t>{0, 1}));
  ASSERT_EQ(numbered.notes().size(), 1u);
  EXPECT_NE(numbered.notes()[0].find("ant is fly"), std::string::npos) << numbered.notes()[0];
}

TEST_F(FileImages, FoldersOfAModelWithoutNamesMustBeAsManyAsItsClasses) {
  WritePng("owl/1.png", 1, 1, "a");
  WritePng("ant/1.png", 1, 1, "a");
  ImageSetSource source = At(folder_);
  source.classes = 1000;
  ExpectRefused(source, ErrorCode::kMismatch,
                "holds 2 class folders, the first is \"ant\", but the model has 1000 classes");
  source.labels = Write("labels.csv", "label\n999\n7\n");
  EXPECT_EQ(MustOpen(source).labels(), (std::vector<int32_t>{999, 7}));
  source.labels.clear();
  source.classes = 2;
  EXPECT_EQ(MustOpen(source).labels(), (std::vector<int32_t>{0, 1}));
}

TEST_F(FileImages, WhatIsNoImageIsLeftOutAndTold) {
  WritePng("cat/1.png", 1, 1, "a");
  WritePng("loose.png", 1, 1, "a");
  Write("readme.txt", "x");
  Write("cat/notes.txt", "x");
  Write(".hidden", "x");
  std::filesystem::create_directories(folder_ + "/cat/more");
  std::filesystem::create_directory_symlink(folder_, folder_ + "/cat/loop");
  const ImageSet set = MustOpen(At(folder_));
  EXPECT_EQ(set.size(), 1);
  EXPECT_EQ(
      set.notes(),
      (std::vector<std::string>{
          "images that are in no class folder are left out: 1, the first is " + folder_ +
              "/loose.png",
          "files that are not named .png, .jpg, .jpeg or .webp are left out: 2, the first is " +
              folder_ + "/readme.txt",
          "folders inside class folders are left out: 2, the first is " + folder_ + "/cat/loop"}));
}

TEST_F(FileImages, EmptyClassFoldersLinkLoopsAndPipesAreRefused) {
  ExpectRefused(At(folder_), ErrorCode::kNotFound, "holds no images");
  WritePng("cat/1.png", 1, 1, "a");
  std::filesystem::create_directories(folder_ + "/dog");
  ExpectRefused(At(folder_), ErrorCode::kBadData,
                "/dog: the class folder holds no PNG, JPEG or WebP");
  std::filesystem::remove(folder_ + "/dog");
  std::filesystem::create_symlink(folder_ + "/cat/2.png", folder_ + "/cat/2.png");
  ExpectRefused(At(folder_), ErrorCode::kIo, "/cat/2.png");
  std::filesystem::remove(folder_ + "/cat/2.png");
  ASSERT_EQ(::mkfifo((folder_ + "/cat/2.png").c_str(), 0600), 0);
  ExpectRefused(At(folder_), ErrorCode::kIo, "not a regular file");
}

TEST_F(FileImages, PartsAreSubfolders) {
  WritePng("train/cat/1.png", 1, 1, "a");
  WritePng("train/cat/2.png", 1, 1, "a");
  Write("train/cat/2.txt", "x");
  EXPECT_EQ(MustOpen(At(folder_, "train")).size(), 2);
  WritePng("val/cat/1.png", 1, 1, "a");
  EXPECT_EQ(MustOpen(At(folder_, "test")).size(), 1);
  ExpectRefused(At(folder_), ErrorCode::kInvalidArgument, "choose the part train or test");
  std::filesystem::remove_all(folder_ + "/train");
  ExpectRefused(At(folder_, "train"), ErrorCode::kNotFound, "has no part train");
}

TEST_F(FileImages, AClassMayBeCalledTrain) {
  WritePng("train/1.png", 1, 1, "a");
  WritePng("bus/1.png", 1, 1, "a");
  EXPECT_EQ(MustOpen(At(folder_)).class_names(), (std::vector<std::string>{"bus", "train"}));
}

TEST_F(FileImages, FlatFolderAndListsHaveNoLabels) {
  const std::string b = WritePng("b.png", 1, 1, "b"), a = WritePng("a.png", 1, 1, "a");
  Write("c.txt", "x");
  const ImageSet folder = MustOpen(At(folder_));
  EXPECT_EQ(folder.size(), 2);
  EXPECT_TRUE(folder.labels().empty());
  EXPECT_EQ(folder.notes().size(), 1u);
  EXPECT_EQ(Pixels(folder, 0, 2), (std::vector<uint8_t>{'a', 'b'}));
  ImageSetSource list;
  list.files = {b, a, b};
  EXPECT_EQ(Pixels(MustOpen(list), 0, 3), (std::vector<uint8_t>{'b', 'a', 'b'}));
  list.path = folder_;
  ExpectRefused(list, ErrorCode::kInvalidArgument, "either");
  list = {};
  list.files = {folder_ + "/none.png"};
  ExpectRefused(list, ErrorCode::kNotFound, "none.png");
  list.files = {Write("fake.png", "not an image")};
  ExpectRefused(list, ErrorCode::kBadData, "no PNG, JPEG or WebP");
}

TEST_F(FileImages, OtherShapesAreRefusedUnlessResized) {
  WritePng("1.png", 4, 4, "abc");
  WritePng("2.png", 6, 8, "abc");
  ExpectRefused(At(folder_), ErrorCode::kMismatch,
                "2.png: is 6 x 8 pixels (height x width), but 4 x 4 are needed");
  ImageSetSource source = At(folder_);
  source.resize = 5;
  source.shape = ImageShape{4, 5, 3};
  const std::vector<uint8_t> pixels = Pixels(MustOpen(source), 0, 2);
  for (size_t i = 0; i < pixels.size(); ++i) ASSERT_EQ(pixels[i], "abc"[i % 3]);
  source.resize = 4;
  ExpectRefused(source, ErrorCode::kInvalidArgument, "resize to 5 or more");
}

TEST_F(FileImages, GreyBecomesRgbAndColorIsNeverDropped) {
  ImageSetSource source = At(WritePng("grey.png", 1, 2, "x"));
  source.shape = ImageShape{1, 2, 3};
  EXPECT_EQ(Pixels(MustOpen(source), 0, 1), std::vector<uint8_t>(6, 'x'));
  source = At(WritePng("color.png", 1, 2, "xyz"));
  source.shape = ImageShape{1, 2, 1};
  ExpectRefused(source, ErrorCode::kMismatch, "color.png: is in color");
}

TEST_F(FileImages, ThreadsDoNotChangePixelsNorWhichErrorIsTold) {
  for (int i = 10; i < 40; ++i) {
    WritePng(Text(i, ".png"), i, 50 - i, std::string(3, static_cast<char>(i)));
  }
  ImageSetSource source = At(folder_);
  source.resize = 8;
  source.shape = ImageShape{8, 7, 3};
  const ImageSet set = MustOpen(source);
  const std::vector<uint8_t> expected = Pixels(set, 0, 30);
  std::vector<uint8_t> pixels(expected.size());
  ASSERT_TRUE(set.Read(0, 30, pixels, 4).ok());
  EXPECT_EQ(pixels, expected);
  Write("20.png", "broken");
  Write("33.png", "broken");
  for (int repeat = 0; repeat < 5; ++repeat) {
    EXPECT_NE(set.Read(0, 30, pixels, 4).message().find("20.png"), std::string::npos);
  }
}

}  // namespace
}  // namespace resmem
