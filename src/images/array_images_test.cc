// CIFAR, IDX and NumPy as images.
#include <gtest/gtest.h>

#include "images/test_images.h"

namespace resmem {
namespace {

using ArrayImages = ImageTest;

std::string Hundred(int rows) {
  std::string text;
  for (int i = 0; i < rows; ++i) {
    text += CifarRecord(BytesOf<uint8_t>({static_cast<uint8_t>(i % 20), static_cast<uint8_t>(i)}),
                        static_cast<uint8_t>(100 + i));
  }
  return text;
}

TEST_F(ArrayImages, CifarRecordBecomesInterleavedPixelsAndLabels) {
  const ImageSet set = MustOpen(At(Write("train.bin", Hundred(5))));
  EXPECT_EQ(set.size(), 5);
  EXPECT_EQ(set.shape(), (ImageShape{32, 32, 3}));
  EXPECT_EQ(set.labels(), (std::vector<int32_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(set.coarse_labels(), (std::vector<int32_t>{0, 1, 2, 3, 4}));
  EXPECT_TRUE(set.class_names().empty());
  EXPECT_EQ(set.name(3), folder_ + "/train.bin:3");
  const std::vector<uint8_t> pixels = Pixels(set, 1, 2);
  for (size_t row = 0; row < 2; ++row) {
    for (size_t y = 0; y < 32; ++y) {
      for (size_t x = 0; x < 32; ++x) {
        const uint8_t* pixel = &pixels[row * 3072 + (y * 32 + x) * 3];
        ASSERT_EQ(pixel[0], y);
        ASSERT_EQ(pixel[1], x);
        ASSERT_EQ(pixel[2], 101 + row);
      }
    }
  }
}

TEST_F(ArrayImages, RowsInAnyOrderAndOnAnyThreadCountAreTheSamePixels) {
  const ImageSet set = MustOpen(At(Write("train.bin", Hundred(50))));
  const std::vector<uint8_t> all = Pixels(set, 0, 50);
  const std::vector<int64_t> rows = {49, 0, 7, 7, 31, 12, 48, 2, 1, 30};
  for (const int threads : {1, 3, 0}) {
    std::vector<uint8_t> some(rows.size() * 3072);
    ASSERT_TRUE(set.ReadRows(rows, some, threads).ok());
    for (size_t i = 0; i < rows.size(); ++i) {
      const auto begin = all.begin() + rows[i] * 3072;
      EXPECT_TRUE(std::equal(begin, begin + 3072, some.begin() + static_cast<int64_t>(i) * 3072));
    }
  }
}

TEST_F(ArrayImages, CompressedCifarReadsLikePlain) {
  const std::vector<uint8_t> plain = Pixels(MustOpen(At(Write("a.bin", Hundred(20)))), 0, 20);
  EXPECT_EQ(Pixels(MustOpen(At(Write("b.bin.xz", XzText(Hundred(20))))), 0, 20), plain);
  EXPECT_EQ(Pixels(MustOpen(At(Write("c.bin.gz", GzipText(Hundred(20))))), 0, 20), plain);
}

TEST_F(ArrayImages, CifarFolderNeedsAPartWhereItHoldsBoth) {
  Write("train.bin.xz", XzText(Hundred(7)));
  EXPECT_EQ(MustOpen(At(folder_)).size(), 7);
  Write("test.bin", Hundred(3));
  EXPECT_EQ(MustOpen(At(folder_, "train")).size(), 7);
  EXPECT_EQ(MustOpen(At(folder_, "test")).size(), 3);
  ExpectRefused(At(folder_), ErrorCode::kInvalidArgument, "choose the part train or test");
  ExpectRefused(At(folder_, "validation"), ErrorCode::kInvalidArgument, "\"validation\"");
  std::string names;
  for (int i = 0; i < 100; ++i) names += Text("class", i, "\n");
  Write("fine_label_names.txt", names);
  Write("coarse_label_names.txt", "first\r\nsecond\r\n");
  const ImageSet set = MustOpen(At(folder_, "test"));
  EXPECT_EQ(set.class_names().size(), 100u);
  EXPECT_EQ(set.class_names()[99], "class99");
  EXPECT_EQ(set.coarse_class_names(), (std::vector<std::string>{"first", "second"}));
}

TEST_F(ArrayImages, OfficialCifar10BatchesAreOneSet) {
  for (int batch = 1; batch <= 3; ++batch) {
    const auto label = static_cast<char>(batch);
    Write(Text("data_batch_", batch, ".bin"), CifarRecord({label}, 1) + CifarRecord({label}, 2));
  }
  Write("test_batch.bin", CifarRecord(std::string(1, '\0'), 3));
  Write("batches.meta.txt", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n\n");
  const ImageSet set = MustOpen(At(folder_, "train"));
  EXPECT_EQ(set.labels(), (std::vector<int32_t>{1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(set.class_names().size(), 10u);
  EXPECT_EQ(set.name(2), folder_ + "/data_batch_2.bin:0");
  EXPECT_EQ(Pixels(set, 3, 1)[2], 2);
  EXPECT_EQ(set.paths().size(), 3u);
  EXPECT_EQ(MustOpen(At(folder_, "test")).size(), 1);
}

TEST_F(ArrayImages, CifarOfWrongLengthOrWithImpossibleLabelsIsRefused) {
  ExpectRefused(At(Write("a.bin", Hundred(4) + "x")), ErrorCode::kBadData, "whole CIFAR-10");
  ExpectRefused(At(Write("b.bin", "")), ErrorCode::kBadData, "is empty");
  std::string late = Hundred(60);
  for (int i = 0; i < 20; ++i) late += Hundred(60);
  late[1200 * 3074 + 1] = '\x64';  // past the records by which the format is told
  ExpectRefused(At(Write("c.bin", late)), ErrorCode::kBadData,
                "fine_labels: row 1200 has label 100, but labels are 0 to 99");
  const std::string packed = XzText(Hundred(20));
  ExpectRefused(At(Write("d.bin.xz", packed.substr(0, packed.size() - 1))), ErrorCode::kBadData,
                "d.bin.xz");
  std::string damaged = packed;
  damaged[damaged.size() / 2] ^= 0x10;
  ExpectRefused(At(Write("e.bin.xz", damaged)), ErrorCode::kBadData, "download the file again");
}

TEST_F(ArrayImages, IdxTakesTheLabelsBesideIt) {
  const std::string images = IdxText(0x08, {3, 2, 2}, "abcdefghijkl");
  Write("train-images-idx3-ubyte.gz", GzipText(images));
  Write("train-labels-idx1-ubyte.gz", GzipText(IdxText(0x08, {3}, std::string("\5\0\7", 3))));
  Write("t10k-images-idx3-ubyte", images);
  Write("t10k-labels-idx1-ubyte", IdxText(0x08, {2}, "\1\2"));
  const ImageSet set = MustOpen(At(folder_, "train"));
  EXPECT_EQ(set.shape(), (ImageShape{2, 2, 1}));
  EXPECT_EQ(set.labels(), (std::vector<int32_t>{5, 0, 7}));
  EXPECT_EQ(Pixels(set, 1, 1), (std::vector<uint8_t>{'e', 'f', 'g', 'h'}));
  ExpectRefused(At(folder_, "test"), ErrorCode::kBadData, "2 x 1 labels, but there are 3 images");
  ImageSetSource other = At(folder_, "train");
  other.labels = Write("other.npy", NpyText("<i8", {3}, BytesOf<int64_t>({1, 2, 3})));
  EXPECT_EQ(MustOpen(other).labels(), (std::vector<int32_t>{1, 2, 3}));
  other.labels = Write("minus.npy", NpyText("<i8", {3}, BytesOf<int64_t>({1, -2, 3})));
  ExpectRefused(other, ErrorCode::kBadData, "row 1 has label -2");
}

TEST_F(ArrayImages, NumpyArraysMayHaveChannelsFirstOrLastOrNone) {
  const std::string values("abcdefghijkl");
  EXPECT_EQ(MustOpen(At(Write("grey.npy", NpyText("|u1", {3, 2, 2}, values)))).shape(),
            (ImageShape{2, 2, 1}));
  const std::vector<uint8_t> last = {'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l'};
  EXPECT_EQ(Pixels(MustOpen(At(Write("last.npy", NpyText("|u1", {1, 2, 2, 3}, values)))), 0, 1),
            last);
  const std::vector<uint8_t> first = {'a', 'e', 'i', 'b', 'f', 'j', 'c', 'g', 'k', 'd', 'h', 'l'};
  EXPECT_EQ(Pixels(MustOpen(At(Write("first.npy", NpyText("|u1", {1, 3, 2, 2}, values)))), 0, 1),
            first);
  ExpectRefused(At(Write("flat.npy", NpyText("|u1", {3, 4}, values))), ErrorCode::kBadData,
                "holds 3 x 4 uint8");
  ExpectRefused(At(Write("wide.npy", NpyText("|u1", {1, 2, 3, 2}, values))), ErrorCode::kBadData,
                "1 or 3 channels");
  ExpectRefused(At(Write("float.npy", NpyText("<f4", {1, 1, 3}, values))), ErrorCode::kBadData,
                "float32");
  ExpectRefused(At(Write("none.npy", NpyText("|u1", {0, 2, 2}, ""))), ErrorCode::kBadData,
                "holds no image");
  ExpectRefused(At(Write("huge.npy", NpyText("|u1", {0, 1 << 20, 1 << 20}, ""))),
                ErrorCode::kBadData, "an image of 1048576 x 1048576 x 1");
}

TEST_F(ArrayImages, NpzHoldsImagesAndLabels) {
  const std::string path =
      Write("both.npz", ZipText({{"images.npy", NpyText("|u1", {2, 1, 2}, "abcd")},
                                 {"labels.npy", NpyText("<i4", {2}, BytesOf<int32_t>({4, 2}))}}));
  EXPECT_EQ(MustOpen(At(path)).labels(), (std::vector<int32_t>{4, 2}));
  const std::string keras =
      Write("mnist.npz", ZipText({{"x_train.npy", NpyText("|u1", {2, 1, 2}, "abcd")},
                                  {"y_train.npy", NpyText("|u1", {2}, "\3\4")},
                                  {"x_test.npy", NpyText("|u1", {1, 1, 2}, "ef")},
                                  {"y_test.npy", NpyText("|u1", {1}, "\5")}}));
  EXPECT_EQ(MustOpen(At(keras, "train")).labels(), (std::vector<int32_t>{3, 4}));
  EXPECT_EQ(Pixels(MustOpen(At(keras, "test")), 0, 1), (std::vector<uint8_t>{'e', 'f'}));
  ExpectRefused(At(keras), ErrorCode::kNotFound, "name the one with the images");
  EXPECT_EQ(MustOpen(At(keras + ":x_test")).size(), 1);
}

TEST_F(ArrayImages, LabelsBeyondTheClassNamesAndOtherNamesAreRefused) {
  Write("a-images.npy", NpyText("|u1", {2, 1, 2}, "abcd"));
  Write("a-labels.npy", NpyText("|u1", {2}, "\1\2"));
  ImageSetSource source = At(folder_ + "/a-images.npy");
  source.class_names = {"cat", "dog"};
  ExpectRefused(source, ErrorCode::kBadData,
                "a-images.npy:1: has label 2, but there are 2 classes");
  Write("class_names.txt", "cat\nfox\nbarn owl\n");
  ExpectRefused(source, ErrorCode::kMismatch, "has 3 classes, but the model has 2");
  source.class_names = {"fox", "cat", "barn owl"};
  ExpectRefused(source, ErrorCode::kMismatch, "its class 0 is \"cat\", but the model's is \"fox\"");
  source.class_names = {"Cat", "fox", "barn_owl"};
  EXPECT_EQ(MustOpen(source).class_names(), source.class_names);
  EXPECT_TRUE(MustOpen(source).notes().empty());
  source.class_names = {"Katze", "Fuchs", "Eule"};
  EXPECT_EQ(MustOpen(source).class_names(), source.class_names);
  ASSERT_EQ(MustOpen(source).notes().size(), 1u);
}

TEST_F(ArrayImages, WrongCallsAreInvalidArguments) {
  const ImageSet set = MustOpen(At(Write("a.npy", NpyText("|u1", {3, 2, 2}, "abcdefghijkl"))));
  std::vector<uint8_t> pixels(8);
  EXPECT_EQ(set.Read(2, 2, pixels).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(set.Read(-1, 2, pixels).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(set.Read(0, 1, pixels).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(set.ReadRows(std::vector<int64_t>{0, 3}, pixels).code(), ErrorCode::kInvalidArgument);
  EXPECT_TRUE(set.Read(3, 0, {}).ok());
  EXPECT_EQ(ImageSet::Open({}).status().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(ImageSet::Open(At(folder_ + "/none.bin")).status().code(), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace resmem
