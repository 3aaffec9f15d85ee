#include "data/formats/safetensors.h"

#include "data/test_files.h"

namespace resmem {
namespace {

class SafetensorsTest : public DataTest {
 protected:
  std::string Tensors(const std::string& header, const std::string& values) {
    return Write("a.safetensors", SafetensorsText(header, values));
  }
  void ExpectBadData(const std::string& header, const std::string& values,
                     const std::string& part) {
    const Status status = OpenError(Tensors(header, values) + ":x");
    EXPECT_EQ(status.code(), ErrorCode::kBadData) << header;
    EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
  }
};

TEST_F(SafetensorsTest, EveryTypeReads) {
  const auto check = [&](const std::string& type, ElementType expected, const std::string& values) {
    const std::string path =
        Tensors(R"({"x":{"dtype":")" + type + R"(","shape":[2,1],"data_offsets":[0,)" +
                    std::to_string(values.size()) + "]}}",
                values);
    EXPECT_EQ(Floats(path), (std::vector<float>{0, 1})) << type;
    EXPECT_EQ(OpenArray({path, {}, {}})->type(), expected) << type;
  };
  check("F16", ElementType::kFloat16, BytesOf<uint16_t>({0, 0x3c00}));
  check("BF16", ElementType::kBFloat16, BytesOf<uint16_t>({0, 0x3f80}));
  check("F32", ElementType::kFloat32, BytesOf<float>({0, 1}));
  check("F64", ElementType::kFloat64, BytesOf<double>({0, 1}));
  check("I8", ElementType::kInt8, BytesOf<int8_t>({0, 1}));
  check("I16", ElementType::kInt16, BytesOf<int16_t>({0, 1}));
  check("I32", ElementType::kInt32, BytesOf<int32_t>({0, 1}));
  check("I64", ElementType::kInt64, BytesOf<int64_t>({0, 1}));
  check("U8", ElementType::kUInt8, BytesOf<uint8_t>({0, 1}));
  check("U16", ElementType::kUInt16, BytesOf<uint16_t>({0, 1}));
  check("U32", ElementType::kUInt32, BytesOf<uint32_t>({0, 1}));
  check("U64", ElementType::kUInt64, BytesOf<uint64_t>({0, 1}));
  check("BOOL", ElementType::kBool, BytesOf<uint8_t>({0, 1}));
}

TEST_F(SafetensorsTest, TensorsAreFoundByNameAndMetadataIsNone) {
  const std::string path =
      Tensors(R"({"__metadata__":{"format":"pt"},"fc.weight":{"dtype":"U8","shape":[1,2],)"
              R"("data_offsets":[1,3]},"s":{"dtype":"U8","shape":[],"data_offsets":[0,1]}})",
              "\7\1\2");
  EXPECT_EQ(Integers(path + ":fc.weight"), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(Integers(path + ":s"), std::vector<int64_t>{7});
  EXPECT_EQ(ListArrays(path)->size(), 2u);
}

TEST_F(SafetensorsTest, UnknownTypeDoesNotHideTheOthers) {
  const std::string path = Tensors(R"({"x":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]},)"
                                   R"("y":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
                                   "\7\1");
  EXPECT_EQ(Integers(path + ":y"), std::vector<int64_t>{1});
  EXPECT_EQ(OpenError(path + ":x").code(), ErrorCode::kUnsupported);
}

TEST_F(SafetensorsTest, OffsetsMustLieInsideAndFillTheFileWithoutOverlap) {
  ExpectBadData(R"({"x":{"dtype":"U8","shape":[9],"data_offsets":[0,9]}})", "12345678",
                "0 to 9 of 8");
  ExpectBadData(R"({"x":{"dtype":"U8","shape":[1],"data_offsets":[5,4]}})", "12345678",
                "5 to 4 of 8");
  ExpectBadData(R"({"x":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
                R"("y":{"dtype":"U8","shape":[5],"data_offsets":[3,8]}})",
                "12345678", "\"y\" begins at byte 3");
  ExpectBadData(R"({"x":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", "12345678",
                "fill 4 bytes");
  ExpectBadData(R"({"x":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", "12345678",
                "12 bytes");
}

// Took quadratic time: 56 s for as many.
TEST_F(SafetensorsTest, ManyTensorsAreReadInNoTime) {
  std::string header = "{";
  constexpr int kTensors = 40000;
  for (int i = 0; i < kTensors; ++i) {
    header += (i == 0 ? "\"" : ",\"") + std::to_string(i) +
              R"(":{"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
  }
  const auto list = ListArrays(Tensors(header + "}", ""));
  ASSERT_TRUE(list.ok()) << list.status().message();
  EXPECT_EQ(list->size(), size_t{kTensors});
}

TEST_F(SafetensorsTest, LyingHeadersAreRefused) {
  ExpectBadData(R"({"x":{"dtype":"U8","shape":[-8],"data_offsets":[0,8]}})", "12345678", "lacks");
  ExpectBadData(R"({"x":{"dtype":"U8","shape":[8.0],"data_offsets":[0,8]}})", "12345678", "lacks");
  ExpectBadData(R"({"x":{"dtype":"U8","shape":[8],"data_offsets":[0]}})", "12345678", "lacks");
  ExpectBadData(R"({"x":[1]})", "", "lacks");
  ExpectBadData(R"({"x":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", "",
                "larger than any file");
  ExpectBadData(R"({"x":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},)"
                R"("x":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})",
                "", "\"x\" comes twice");
  ExpectBadData("{\"x\":" + std::string(100000, '[') + std::string(100000, ']') + "}", "",
                "nested deeper than 8 levels");
  ExpectBadData("{\"x\"", "", "cannot be parsed");
  ExpectBadData("[]", "", "");
  Write("b.safetensors", BytesOf<uint64_t>({~uint64_t{0}}) + "{}");
  EXPECT_EQ(OpenError(folder_ + "/b.safetensors").code(), ErrorCode::kBadData);
}

}  // namespace
}  // namespace resmem
