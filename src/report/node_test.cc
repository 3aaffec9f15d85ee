#include "report/node.h"

#include <gtest/gtest.h>

namespace resmem {
namespace {

TEST(ParseJson, DeepNestingIsRefusedBeforeParsing) {
  const std::string deep(100000, '[');
  const Result<SortedJson> result = ParseJson(deep);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), ErrorCode::kBadData);
  EXPECT_NE(result.status().message().find("32 levels"), std::string::npos);
}

TEST(ParseJson, BracketsInsideTextsDoNotCount) {
  EXPECT_TRUE(ParseJson("{\"a\": \"" + std::string(1000, '[') + "\\\"[[\"}").ok());
}

TEST(ParseJson, BrokenTextNamesItsPlace) {
  const Result<SortedJson> result = ParseJson("{\"a\": 1,}");
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.status().message().find("byte 9"), std::string::npos)
      << result.status().message();
}

TEST(ParseJson, BytesThatAreNotUtf8AreRefused) {
  EXPECT_FALSE(ParseJson("{\"a\": \"\xff\xfe\"}").ok());
}

TEST(ParseJson, NumbersBeyondDoubleAreRefused) {
  EXPECT_FALSE(ParseJson("[1e999]").ok());
}

class NodeTest : public testing::Test {
 protected:
  Node Root(const char* text) {
    json_ = SortedJson::parse(text);
    problem_ = Status();
    return Node(&json_, &problem_);
  }
  SortedJson json_;
  Status problem_;
};

TEST_F(NodeTest, MissingFieldIsNamedWithItsPath) {
  const Node root = Root(R"({"gain": {"fixed": 1}})");
  EXPECT_EQ(root.At("gain").At("harmed").Count(), 0);
  EXPECT_EQ(problem_.code(), ErrorCode::kBadData);
  EXPECT_NE(problem_.message().find("/gain/harmed is missing"), std::string::npos);
}

TEST_F(NodeTest, FirstProblemIsKept) {
  const Node root = Root(R"({"a": "text", "b": -1})");
  root.At("a").Number();
  root.At("b").Count();
  EXPECT_NE(problem_.message().find("/a is \"text\""), std::string::npos) << problem_.message();
}

TEST_F(NodeTest, CountsAreWholeAndNotNegative) {
  for (const char* text : {R"({"n": -1})", R"({"n": 1.5})", R"({"n": 18446744073709551615})",
                           R"({"n": "3"})", R"({"n": null})", R"({"n": [3]})"}) {
    Root(text).At("n").Count();
    EXPECT_FALSE(problem_.ok()) << text;
  }
  EXPECT_EQ(Root(R"({"n": 10000})").At("n").Count(), 10000);
  EXPECT_TRUE(problem_.ok());
}

TEST_F(NodeTest, HugeNumbersAreRefused) {
  Root(R"({"n": 1e200})").At("n").Number();
  EXPECT_FALSE(problem_.ok());
}

TEST_F(NodeTest, PathsAreJsonPointers) {
  const Node root = Root(R"({"a/b~": [7]})");
  EXPECT_EQ(root.At("a/b~").Items()[0].path(), "/a~1b~0/0");
}

TEST_F(NodeTest, LongValuesAreCutInMessages) {
  Root((R"({"n": ")" + std::string(10000, 'x') + "\"}").c_str()).At("n").Number();
  EXPECT_LT(problem_.message().size(), 250u);
}

}  // namespace
}  // namespace resmem
