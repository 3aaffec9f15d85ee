#include "data/formats/numpy/npy.h"

#include <cmath>
#include <limits>

#include "data/test_files.h"

namespace resmem {
namespace {

using NpyTest = DataTest;

TEST_F(NpyTest, EveryNumericTypeReadsAsFloatsAndIntegers) {
  const auto check = [&](const char* descriptor, ElementType type, const std::string& bytes) {
    const std::string path = Write("a.npy", NpyText(descriptor, {3, 1}, bytes));
    EXPECT_EQ(Floats(path), (std::vector<float>{0, 1, 7})) << descriptor;
    EXPECT_EQ(Integers(path), (std::vector<int64_t>{0, 1, 7})) << descriptor;
    EXPECT_EQ(OpenArray({path, {}, {}})->type(), type);
  };
  check("<f2", ElementType::kFloat16, BytesOf<uint16_t>({0, 0x3c00, 0x4700}));
  check("<f4", ElementType::kFloat32, BytesOf<float>({0, 1, 7}));
  check("<f8", ElementType::kFloat64, BytesOf<double>({0, 1, 7}));
  check("|i1", ElementType::kInt8, BytesOf<int8_t>({0, 1, 7}));
  check("<i2", ElementType::kInt16, BytesOf<int16_t>({0, 1, 7}));
  check("<i4", ElementType::kInt32, BytesOf<int32_t>({0, 1, 7}));
  check("<i8", ElementType::kInt64, BytesOf<int64_t>({0, 1, 7}));
  check("|u1", ElementType::kUInt8, BytesOf<uint8_t>({0, 1, 7}));
  check("<u2", ElementType::kUInt16, BytesOf<uint16_t>({0, 1, 7}));
  check("<u4", ElementType::kUInt32, BytesOf<uint32_t>({0, 1, 7}));
  check("<u8", ElementType::kUInt64, BytesOf<uint64_t>({0, 1, 7}));
  const std::string bools = Write("b.npy", NpyText("|b1", {3}, BytesOf<uint8_t>({0, 1, 1})));
  EXPECT_EQ(Integers(bools), (std::vector<int64_t>{0, 1, 1}));
}

TEST_F(NpyTest, BigEndianValuesReadTheSame) {
  EXPECT_EQ(Floats(Write("f4.npy", NpyText(">f4", {1}, std::string("\x3f\x80\0\0", 4)))),
            std::vector<float>{1});
  EXPECT_EQ(Integers(Write("u2.npy", NpyText(">u2", {2}, std::string("\1\2\0\5", 4)))),
            (std::vector<int64_t>{258, 5}));
}

TEST_F(NpyTest, FortranOrderIsTransposedIntoRows) {
  std::string text = NpyText("<i4", {2, 3}, BytesOf<int32_t>({1, 4, 2, 5, 3, 6}));
  const size_t at = text.find("False");
  text.replace(at, 5, "True ");
  EXPECT_EQ(Integers(Write("a.npy", text)), (std::vector<int64_t>{1, 2, 3, 4, 5, 6}));
}

TEST_F(NpyTest, HalfPrecisionCoversSubnormalsInfinityAndNaN) {
  const auto values = Floats(
      Write("h.npy",
            NpyText("<f2", {6}, BytesOf<uint16_t>({1, 0x8001, 0x7bff, 0x7c00, 0xfc00, 0x7e00}))));
  ASSERT_EQ(values.size(), 6u);
  EXPECT_EQ(values[0], 0x1p-24f);
  EXPECT_EQ(values[1], -0x1p-24f);
  EXPECT_EQ(values[2], 65504.0f);
  EXPECT_EQ(values[3], std::numeric_limits<float>::infinity());
  EXPECT_EQ(values[4], -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(values[5]));
}

TEST_F(NpyTest, OneRowRangeIsReadAlone) {
  const std::string path =
      Write("a.npy", NpyText("<f8", {3, 2}, BytesOf<double>({1, 2, 3, 4, 5, 6})));
  Result<Array> array = OpenArray({path, {}, {}});
  ASSERT_TRUE(array.ok());
  std::vector<float> row(2);
  ASSERT_TRUE(array->ReadFloats(1, 1, row).ok());
  EXPECT_EQ(row, (std::vector<float>{3, 4}));
  EXPECT_EQ(array->ReadFloats(3, 1, row).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(array->ReadFloats(0, 2, row).code(), ErrorCode::kInvalidArgument);
}

TEST_F(NpyTest, NativeFloatsAreUsedInPlaceAndOthersAreNot) {
  const std::string path = Write("a.npy", NpyText("<f4", {2, 2}, BytesOf<float>({1, 2, 3, 4})));
  Result<Array> array = OpenArray({path, {}, {}});
  ASSERT_TRUE(array.ok());
  const auto view = array->InPlace();
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(view->row(1)[0], 3.0f);
  array->DropRows(0, 2);
  EXPECT_EQ(view->row(1)[1], 4.0f);
  const std::string wide = Write("b.npy", NpyText("<f8", {1}, BytesOf<double>({1})));
  EXPECT_FALSE(OpenArray({wide, {}, {}})->InPlace().has_value());
}

TEST_F(NpyTest, ValueThatDoesNotFitNamesItsPlace) {
  std::vector<float> floats(4);
  std::vector<int64_t> integers(4);
  const std::string path =
      Write("a.npy", NpyText("<f8", {2, 2}, BytesOf<double>({1, 2, 1e39, 2.5})));
  Result<Array> array = OpenArray({path, {}, {}});
  ASSERT_TRUE(array.ok());
  const Status status = array->ReadFloats(0, 2, floats);
  EXPECT_EQ(status.code(), ErrorCode::kBadData);
  EXPECT_NE(status.message().find("row 1, column 0 is 1e+39"), std::string::npos)
      << status.message();
  integers.resize(2);
  EXPECT_TRUE(array->ReadIntegers(0, 1, integers).ok());
  EXPECT_EQ(array->ReadIntegers(1, 1, integers).code(), ErrorCode::kBadData);
  const std::string large = Write("b.npy", NpyText("<u8", {1}, BytesOf<uint64_t>({~uint64_t{0}})));
  integers.resize(1);
  EXPECT_EQ(OpenArray({large, {}, {}})->ReadIntegers(0, 1, integers).code(), ErrorCode::kBadData);
}

TEST_F(NpyTest, TextReadsAsUtf8) {
  const std::string path =
      Write("u.npy", NpyText("<U3", {2}, BytesOf<uint32_t>({'a', 0xe9, 0x1f600, 'b', 0, 0})));
  EXPECT_EQ(OpenArray({path, {}, {}})->ReadText(0, 2).value(),
            (std::vector<std::string>{"a\xc3\xa9\xf0\x9f\x98\x80", "b"}));
  const std::string bytes = Write("s.npy", NpyText("|S2", {2}, std::string("abc\0", 4)));
  EXPECT_EQ(OpenArray({bytes, {}, {}})->ReadText(1, 1).value(), std::vector<std::string>{"c"});
  const std::string numbers = Write("n.npy", NpyText("<f4", {2}, BytesOf<float>({0.1f, 3})));
  EXPECT_EQ(OpenArray({numbers, {}, {}})->ReadText(0, 2).value(),
            (std::vector<std::string>{"0.1", "3"}));
}

TEST_F(NpyTest, AbsurdShapesAreRefusedBeforeAnyAllocation) {
  for (const std::vector<int64_t>& shape : std::vector<std::vector<int64_t>>{
           {int64_t{1} << 62, 4}, {int64_t{1} << 40, int64_t{1} << 40}, {-1, 4}, {INT64_MIN}}) {
    const Status status = OpenError(Write("a.npy", NpyText("<f4", shape, "")));
    EXPECT_EQ(status.code(), ErrorCode::kBadData) << status.message();
  }
  EXPECT_EQ(OpenError(Write("b.npy", NpyText("<f4", {int64_t{1} << 62, 4, 0}, ""))).code(),
            ErrorCode::kBadData);
}

TEST_F(NpyTest, UnreadableTypesAreUnsupportedWithTheirReason) {
  const Status pickle = OpenError(Write("o.npy", NpyText("|O", {1}, "12345678")));
  EXPECT_EQ(pickle.code(), ErrorCode::kUnsupported);
  EXPECT_NE(pickle.message().find("can run code"), std::string::npos);
  for (const char* descriptor : {"<c8", "<M8[ns]", "<f16", "<U0", "<U", "", "float32", "<V2"}) {
    EXPECT_EQ(OpenError(Write("a.npy", NpyText(descriptor, {1}, "12345678"))).code(),
              ErrorCode::kUnsupported)
        << descriptor;
  }
}

TEST_F(NpyTest, WrittenFilesReadBackAndKeepNumPysHeader) {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  MatrixView view(values.data(), 2, 2);
  view.stride = 3;
  const std::string path = folder_ + "/w.npy";
  ASSERT_TRUE(WriteNpy(path, view).ok());
  EXPECT_EQ(Floats(path), (std::vector<float>{1, 2, 4, 5}));
  ASSERT_TRUE(WriteNpy(path, MatrixView(values.data(), 3, 2)).ok());
  EXPECT_EQ(Floats(path), values);
  EXPECT_EQ(Shape(path), (std::vector<int64_t>{3, 2}));
  ASSERT_TRUE(WriteNpy(path, MatrixView(values.data(), 0, 2)).ok());
  EXPECT_EQ(Shape(path), (std::vector<int64_t>{0, 2}));
  const std::vector<int32_t> small = {-5, 7};
  ASSERT_TRUE(WriteNpy(path, small).ok());
  EXPECT_EQ(Integers(path), (std::vector<int64_t>{-5, 7}));
  const std::vector<int64_t> large = {INT64_MAX};
  ASSERT_TRUE(WriteNpy(path, large).ok());
  EXPECT_EQ(Integers(path), large);
  EXPECT_EQ(std::filesystem::file_size(path), 128u + 8u);
  EXPECT_EQ(WriteNpy(folder_ + "/none/w.npy", large).code(), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace resmem
