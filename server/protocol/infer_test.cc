#include "protocol/infer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "protocol/json_text.h"

namespace resmem::serve {
namespace {

std::string Bytes(std::vector<float> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

Result<InferRequest> Parse(const std::string& json, const std::string& binary = "") {
  return ParseInferRequest(json + binary, std::to_string(json.size()), 1 << 20);
}

constexpr char kBinary[] =
    R"({"id":"7","inputs":[{"name":"keys","shape":[1,2],"datatype":"FP32",)"
    R"("parameters":{"binary_data_size":8}}],"parameters":{"binary_data_output":true}})";

TEST(Infer, ReadsBytesAfterTheJsonAsTritonclientSendsThem) {
  const auto request = Parse(kBinary, Bytes({1.5f, -2}));
  ASSERT_TRUE(request.ok()) << request.status().message();
  EXPECT_EQ(request->id, "7");
  EXPECT_TRUE(request->binary_outputs);
  EXPECT_EQ(request->inputs[0].floats, (std::vector<float>{1.5f, -2}));
}

TEST(Infer, RefusesBytesThatDoNotFit) {
  EXPECT_FALSE(Parse(kBinary, Bytes({1})).ok());
  EXPECT_FALSE(Parse(kBinary, Bytes({1, 2, 3})).ok());  // some belong to no input
  EXPECT_FALSE(Parse(kBinary).ok());
  EXPECT_FALSE(Parse(kBinary, Bytes({1, std::numeric_limits<float>::infinity()})).ok());
  EXPECT_FALSE(ParseInferRequest(kBinary, "999999", 1 << 20).ok());
  EXPECT_FALSE(ParseInferRequest(kBinary, "-1", 1 << 20).ok());
  EXPECT_FALSE(ParseInferRequest(kBinary, "1x", 1 << 20).ok());
}

TEST(Infer, RefusesShapesThatLie) {
  for (const char* shape : {"[2,3]", "[-1,-4]", "[4294967296,4294967296]", "[1.5,2]", "[\"a\"]",
                            "[1,1,1,1,1,1,1,1,4]", "7", "[]"}) {
    const std::string json = std::string(R"({"inputs":[{"name":"keys","shape":)") + shape +
                             R"(,"datatype":"FP32","data":[1,2,3,4]}]})";
    EXPECT_FALSE(Parse(json).ok()) << shape;
  }
}

TEST(Infer, ReadsEveryTypeFromJsonAndBytesAlike) {
  for (const char* type : {"FP32", "FP64", "UINT8", "INT32", "INT64", "UINT64"}) {
    const std::string json = std::string(R"({"inputs":[{"name":"x","shape":[2],"datatype":")") +
                             type + R"(","data":[3,200]}]})";
    const auto read = Parse(json);
    ASSERT_TRUE(read.ok()) << type << read.status().message();
    Tensor tensor = read->inputs[0];
    std::string bytes;
    if (tensor.type == DataType::kFp64) tensor.type = DataType::kFp32;  // answers have no FP64
    AppendBinaryValues(tensor, &bytes);
    Tensor again;
    again.type = tensor.type;
    ASSERT_TRUE(ReadBinaryValues(bytes, 2, &again).ok()) << type;
    EXPECT_EQ(again.floats, tensor.floats);
    EXPECT_EQ(again.bytes, tensor.bytes);
    EXPECT_EQ(again.whole, tensor.whole);
    EXPECT_EQ(again.unsigned_whole, tensor.unsigned_whole);
  }
}

TEST(Infer, ReadsHalfFloats) {
  Tensor tensor;
  tensor.type = DataType::kFp16;
  const uint16_t halves[] = {0x3C00, 0xC000, 0x0001, 0x7BFF, 0x8000};
  ASSERT_TRUE(
      ReadBinaryValues({reinterpret_cast<const char*>(halves), sizeof halves}, 5, &tensor).ok());
  EXPECT_EQ(tensor.floats, (std::vector<float>{1, -2, 0x1p-24f, 65504, 0}));
}

TEST(Infer, RefusesTextsThatRunOver) {
  Tensor tensor;
  tensor.type = DataType::kBytes;
  EXPECT_TRUE(ReadBinaryValues(std::string("\2\0\0\0ab", 6), 1, &tensor).ok());
  EXPECT_EQ(tensor.texts, std::vector<std::string>{"ab"});
  EXPECT_FALSE(ReadBinaryValues(std::string("\3\0\0\0ab", 6), 1, &tensor).ok());
  EXPECT_FALSE(ReadBinaryValues(std::string("\1\0\0\0ab", 6), 1, &tensor).ok());
  EXPECT_FALSE(ReadBinaryValues("\2", 1, &tensor).ok());
}

TEST(Infer, FloatsInJsonComeBackAsTheSameBits) {
  std::mt19937 random(1);
  std::vector<float> values = {0.1f, 1e-45f, std::numeric_limits<float>::max(), -0.0f};
  for (int i = 0; i < 1000; ++i) {
    const uint32_t bits = random();
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    if (std::isfinite(value)) values.push_back(value);
  }
  std::string text;
  AppendNumbers(std::span<const float>(values), &text);
  const auto json = ParseJson(text);
  ASSERT_TRUE(json.ok());
  for (size_t i = 0; i < values.size(); ++i) {
    const auto back = static_cast<float>(json->numbers[i].AsDouble());
    EXPECT_EQ(back, values[i]);
  }
}

TEST(Infer, AnswersHoldJsonThenBytes) {
  std::vector<Tensor> outputs(2);
  outputs[0].name = "prediction";
  outputs[0].type = DataType::kInt64;
  outputs[0].shape.sizes = {1};
  outputs[0].whole = {3};
  outputs[1].name = "probabilities";
  outputs[1].shape.sizes = {1, 2};
  outputs[1].floats = {0.25f, 0.75f};
  const bool binary[] = {false, true};
  const InferResponse response = FormatInferResponse("m", "7", outputs, binary);
  EXPECT_EQ(response.body.size(), response.json_bytes + 8);
  EXPECT_EQ(response.body.substr(response.json_bytes), Bytes({0.25f, 0.75f}));
  const auto json = ParseJson(response.body.substr(0, response.json_bytes));
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(json->Find("id")->text, "7");
  EXPECT_EQ(json->Find("outputs")->list[0].Find("data")->numbers.size(), 1u);
}

TEST(JsonText, EscapesWhatCouldBreakOut) {
  std::string json;
  AppendText("a\"b\\c\n\x01\xff\xc3\xa4", &json);
  EXPECT_EQ(json, "\"a\\\"b\\\\c\\u000a\\u0001\\ufffd\xc3\xa4\"");
}

}  // namespace
}  // namespace resmem::serve
