#include "protocol/json_value.h"

#include <gtest/gtest.h>

namespace resmem::serve {
namespace {

TEST(JsonValue, NestedArraysOfNumbersAreOneArrayWithAShape) {
  const auto json = ParseJson(R"({"a": [[1, 2.5, -3], [4, 5, 6]], "b": "x"})");
  ASSERT_TRUE(json.ok()) << json.status().message();
  const JsonValue* a = json->Find("a");
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(a->shape, (std::vector<int64_t>{2, 3}));
  ASSERT_EQ(a->numbers.size(), 6u);
  EXPECT_EQ(a->numbers[1].AsDouble(), 2.5);
  EXPECT_EQ(a->numbers[2].AsDouble(), -3);
}

TEST(JsonValue, WholeNumbersKeepAllTheirBits) {
  const auto json = ParseJson("[18446744073709551615, -9223372036854775808, 9007199254740993]");
  ASSERT_TRUE(json.ok());
  uint64_t whole = 0;
  int64_t number = 0;
  EXPECT_TRUE(json->numbers[0].AsUint64(&whole));
  EXPECT_EQ(whole, UINT64_MAX);
  EXPECT_FALSE(json->numbers[0].AsInt64(&number));
  EXPECT_TRUE(json->numbers[1].AsInt64(&number));
  EXPECT_EQ(number, INT64_MIN);
  EXPECT_TRUE(json->numbers[2].AsUint64(&whole));
  EXPECT_EQ(whole, 9007199254740993u);
}

TEST(JsonValue, DepthIsLimitedWhileReading) {
  const std::string deep(100'000, '[');
  const auto json = ParseJson(deep);
  ASSERT_FALSE(json.ok());
  EXPECT_NE(json.status().message().find("deeper"), std::string::npos);
}

TEST(JsonValue, ManySmallValuesAreRefused) {
  std::string text = "[\"\"";
  for (int i = 0; i < 100; ++i) text += ",\"\"";
  EXPECT_TRUE(ParseJson(text + "]").ok());
  EXPECT_FALSE(ParseJson(text + "]", {.values = 50}).ok());
}

TEST(JsonValue, RefusesWhatIsNotSound) {
  for (const char* text : {"", "{", "[1,]", "{\"a\":1,\"a\":2}", "[1,\"x\"]", "[[1,2],[3]]",
                           "[[1],2]", "{\"a\":}", "\"\xff\"", "nul", "[1e999]", "{} {}", "[NaN]"}) {
    EXPECT_FALSE(ParseJson(text).ok()) << text;
  }
}

}  // namespace
}  // namespace resmem::serve
