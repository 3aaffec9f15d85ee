// The formats that have little or no header: IDX, CIFAR, vectors, raw.
#include "data/formats/formats.h"

#include "data/test_files.h"

namespace resmem {
namespace {

using FormatsTest = DataTest;

TEST_F(FormatsTest, IdxReadsPlainAndCompressed) {
  const std::string text = IdxText(0x08, {2, 3}, "\1\2\3\4\5\6");
  const std::vector<int64_t> expected = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(Integers(Write("a-idx3-ubyte", text)), expected);
  EXPECT_EQ(Integers(Write("a.gz", GzipText(text))), expected);
  const std::string big_endian = IdxText(0x0b, {2}, std::string("\1\0\377\377", 4));
  EXPECT_EQ(Integers(Write("b", big_endian)), (std::vector<int64_t>{256, -1}));
}

TEST_F(FormatsTest, GzipOfSeveralPiecesIsJoined) {
  const std::string text = IdxText(0x08, {6}, "abcdef");
  EXPECT_EQ(Integers(Write("a.gz", GzipText(text.substr(0, 9)) + GzipText(text.substr(9)))).size(),
            6u);
}

TEST_F(FormatsTest, GzipThatHoldsMoreThanItsHeaderSaysIsRefused) {
  const Status status = OpenError(Write("a.gz", GzipText(IdxText(0x08, {2}, "abc"))));
  EXPECT_EQ(status.code(), ErrorCode::kBadData);
  EXPECT_NE(status.message().find("more than"), std::string::npos) << status.message();
  std::string damaged = GzipText(IdxText(0x08, {3}, "abc"));
  damaged[damaged.size() - 9] ^= 1;  // the last value
  EXPECT_EQ(OpenError(Write("b.gz", damaged)).code(), ErrorCode::kBadData);
  EXPECT_EQ(OpenError(Write("c.gz", GzipText("a,b\n1,2\n"))).code(), ErrorCode::kUnsupported);
}

TEST_F(FormatsTest, CifarMembersAreFoundByRecordSize) {
  std::string ten, hundred;
  for (int i = 0; i < 3; ++i) {
    ten += BytesOf<uint8_t>({static_cast<uint8_t>(i)}) + std::string(3072, '\x20');
    hundred += BytesOf<uint8_t>({static_cast<uint8_t>(i), static_cast<uint8_t>(90 + i)}) +
               std::string(3072, '\x21');
  }
  const std::string small = Write("test_batch.bin", ten);
  EXPECT_EQ(Integers(small + ":labels"), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(Shape(small + ":images"), (std::vector<int64_t>{3, 3, 32, 32}));
  EXPECT_EQ(Floats(small + ":images"), std::vector<float>(3 * 3072, 32.0f));
  const std::string large = Write("train.bin", hundred);
  EXPECT_EQ(Integers(large + ":coarse_labels"), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(Integers(large + ":fine_labels"), (std::vector<int64_t>{90, 91, 92}));
  EXPECT_EQ(Integers(large + ":images"), std::vector<int64_t>(3 * 3072, 33));
}

TEST_F(FormatsTest, CifarThatFitsBothOrNeitherIsRefused) {
  const Status both = OpenError(Write("both.bin", std::string(3073 * 3074, '\0')));
  EXPECT_EQ(both.code(), ErrorCode::kBadData);
  EXPECT_NE(both.message().find("as well as"), std::string::npos) << both.message();
  // The same length, but only one of the two can have label 10 first.
  EXPECT_EQ(ListArrays(Write("one.bin", '\x0a' + std::string(3073 * 3074 - 1, '\0')))->size(), 3u);
  EXPECT_EQ(OpenError(Write("label.bin", std::string(3073, '\x0a'))).code(), ErrorCode::kBadData);
  EXPECT_EQ(OpenError(Write("length.bin", std::string(3075, '\0'))).code(), ErrorCode::kBadData);
}

TEST_F(FormatsTest, VectorsReadWithoutTheirPrefixes) {
  const std::string f = Write("a.fvecs", BytesOf<int32_t>({2}) + BytesOf<float>({1, 2}) +
                                             BytesOf<int32_t>({2}) + BytesOf<float>({3, 4}));
  EXPECT_EQ(Floats(f), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(Shape(f), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(Integers(Write("a.ivecs", BytesOf<int32_t>({1, 7, 1, -8}))),
            (std::vector<int64_t>{7, -8}));
  EXPECT_EQ(Integers(Write("a.bvecs", BytesOf<int32_t>({2}) + "ab")),
            (std::vector<int64_t>{'a', 'b'}));
}

TEST_F(FormatsTest, VectorsOfUnequalLengthAreRefused) {
  EXPECT_EQ(OpenError(Write("a.ivecs", BytesOf<int32_t>({1, 7, 1}))).code(), ErrorCode::kBadData);
  EXPECT_EQ(OpenError(Write("b.ivecs", BytesOf<int32_t>({-1, 7}))).code(), ErrorCode::kBadData);
  EXPECT_EQ(OpenError(Write("c.ivecs", "ab")).code(), ErrorCode::kBadData);
  Result<Array> array = OpenArray({Write("d.ivecs", BytesOf<int32_t>({1, 7, 2, 8})), {}, {}});
  ASSERT_TRUE(array.ok());
  EXPECT_FALSE(array->InPlace().has_value());
  std::vector<int64_t> values(2);
  const Status status = array->ReadIntegers(0, 2, values);
  EXPECT_EQ(status.code(), ErrorCode::kBadData);
  EXPECT_NE(status.message().find("row 1 says that it has 2 values"), std::string::npos);
}

TEST_F(FormatsTest, RawFilesTakeTheShapeGiven) {
  const std::string path = Write("a.npy", BytesOf<float>({1, 2, 3, 4, 5, 6}));
  const auto open = [&](std::vector<int64_t> shape, std::optional<ElementType> type) {
    return OpenArray({path, std::move(shape), type});
  };
  Result<Array> array = open({-1, 2}, ElementType::kFloat32);
  ASSERT_TRUE(array.ok()) << array.status().message();
  EXPECT_EQ(array->rows(), 3);
  EXPECT_EQ(array->InPlace()->row(2)[1], 6.0f);
  EXPECT_EQ(open({2, 3}, ElementType::kFloat32)->rows(), 2);
  EXPECT_EQ(open({2, 2}, ElementType::kFloat32).status().code(), ErrorCode::kBadData);
  EXPECT_EQ(open({-1, 5}, ElementType::kFloat32).status().code(), ErrorCode::kBadData);
  EXPECT_EQ(open({-1, 0}, ElementType::kFloat32).status().code(), ErrorCode::kBadData);
  EXPECT_EQ(open({-1, -1}, ElementType::kFloat32).status().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(open({-2}, ElementType::kFloat32).status().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(open({INT64_MAX, INT64_MAX}, ElementType::kFloat32).status().code(),
            ErrorCode::kBadData);
  EXPECT_EQ(open({6}, std::nullopt).status().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(open({}, ElementType::kFloat32).status().code(), ErrorCode::kInvalidArgument);
  Write("a.npy", NpyText("<f4", {1}, "1234"));
  EXPECT_EQ(open({-1}, ElementType::kUInt8).status().code(), ErrorCode::kInvalidArgument);
}

TEST_F(FormatsTest, UnknownMissingAndEmptyFilesSayWhatTheyAre) {
  EXPECT_EQ(OpenError(Write("a.xyz", "hello there")).code(), ErrorCode::kUnsupported);
  EXPECT_EQ(OpenError(Write("a.npy", "no magic")).code(), ErrorCode::kBadData);
  EXPECT_EQ(OpenError(Write("b.npy", "")).code(), ErrorCode::kBadData);
  EXPECT_EQ(OpenError(folder_ + "/none.npy").code(), ErrorCode::kNotFound);
  EXPECT_EQ(OpenError(folder_).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(OpenError(Write("c.npy", NpyText("|u1", {1}, "x")) + ":x").code(),
            ErrorCode::kNotFound);
}

TEST_F(FormatsTest, ElementTypesHaveNamesAndSizes) {
  EXPECT_EQ(ParseElementType("float32").value(), ElementType::kFloat32);
  EXPECT_EQ(ParseElementType("u2").value(), ElementType::kUInt16);
  EXPECT_EQ(ParseElementType("text").status().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(ParseElementType("").status().code(), ErrorCode::kInvalidArgument);
  EXPECT_STREQ(ElementTypeName(ElementType::kBFloat16), "bfloat16");
  EXPECT_EQ(ElementBytes(ElementType::kFloat64), 8);
}

}  // namespace
}  // namespace resmem
