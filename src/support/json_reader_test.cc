#include "support/json_reader.h"

#include <gtest/gtest.h>

namespace resmem {
namespace {

std::string Problem(std::string_view text, const JsonLimits& limits = {}) {
  const auto read = ReadJson(text, limits);
  return read.ok() ? "" : read.status().message();
}

TEST(JsonReaderTest, ReadsAsTheLibraryDoes) {
  for (const char* text :
       {"null", "true", "-3", "18446744073709551615", "1.5e-7", R"("\u00fc\n")", "[]", "{}",
        R"({"b":[1,[2,{}],"x"],"a":{"c":null,"":false}})", R"([[],[[]],{"a":{"a":1}}])"}) {
    const auto read = ReadJson(text, {});
    ASSERT_TRUE(read.ok()) << text << read.status().message();
    EXPECT_EQ(read->dump(), nlohmann::ordered_json::parse(text).dump());
  }
}

TEST(JsonReaderTest, WhatIsNotJsonIsRefusedWithItsPlace) {
  EXPECT_EQ(Problem("[1,]"), "its JSON cannot be parsed at byte 4");
  for (const char* text : {"", "[", "{\"a\"}", "[1] 2", "nul", "\"\xff\"", "[1e999]"}) {
    EXPECT_NE(Problem(text), "") << text;
  }
}

TEST(JsonReaderTest, LevelsAndKeysAreLimited) {
  JsonLimits limits{.levels = 2, .keys_in_object = 2, .keys = 3};
  EXPECT_EQ(Problem(R"([{"a":1,"b":2},{"c":3}])", limits), "");
  EXPECT_EQ(Problem("[[[]]]", limits), "its JSON is nested deeper than 2 levels");
  EXPECT_EQ(Problem(R"({"a":1,"b":2,"c":3})", limits),
            "its JSON has an object of more than 2 keys");
  EXPECT_EQ(Problem(R"([{"a":1,"b":2},{"c":3,"d":4}])", limits), "its JSON has more than 3 keys");
  EXPECT_EQ(Problem(std::string(1000000, '['), limits), "its JSON is nested deeper than 2 levels");
}

TEST(JsonReaderTest, KeyThatComesTwiceIsRefused) {
  EXPECT_EQ(Problem(R"({"a":1,"b":2,"a":3})"), "\"a\" comes twice in its JSON");
  EXPECT_EQ(Problem(R"({"a":{"a":1},"b":[{"a":1},{"a":2}]})"), "");
}

// With a search for each key this would take minutes.
TEST(JsonReaderTest, ManyKeysAreReadInOrder) {
  std::string text = "{";
  for (int i = 0; i < 200000; ++i) {
    text += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":0";
  }
  const auto read = ReadJson(text + "}", {.levels = 1, .keys_in_object = 200000});
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->size(), 200000u);
  EXPECT_EQ(read->items().begin().key(), "0");
}

}  // namespace
}  // namespace resmem
