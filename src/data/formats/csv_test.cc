#include "data/formats/csv.h"

#include "data/test_files.h"

namespace resmem {
namespace {

class CsvTest : public DataTest {
 protected:
  void ExpectBadData(const std::string& text, const std::string& part) {
    const Status status = OpenError(Write("bad.csv", text));
    EXPECT_EQ(status.code(), ErrorCode::kBadData) << text;
    EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
  }
};

TEST_F(CsvTest, NumericFileIsOneMatrix) {
  const std::string path = Write("a.csv", "x,y\n1,2.5\n+3, -4e1\n");
  EXPECT_EQ(Floats(path), (std::vector<float>{1, 2.5f, 3, -40}));
  EXPECT_EQ(Shape(path), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(OpenArray({path, {}, {}})->type(), ElementType::kFloat64);
}

TEST_F(CsvTest, ColumnsAreMembersOfTheirOwnType) {
  const std::string path =
      Write("a.csv", "id,score,name\r\n9007199254740993,0.5,cat\r\n2,1,dog\r\n");
  EXPECT_EQ(Integers(path + ":id"), (std::vector<int64_t>{9007199254740993, 2}));
  EXPECT_EQ(Floats(path + ":score"), (std::vector<float>{0.5f, 1}));
  EXPECT_EQ(OpenArray({path + ":name", {}, {}})->ReadText(0, 2).value(),
            (std::vector<std::string>{"cat", "dog"}));
  const auto list = ListArrays(path);
  ASSERT_EQ(list->size(), 3u);
  EXPECT_EQ((*list)[0].type, ElementType::kInt64);
  EXPECT_EQ((*list)[1].type, ElementType::kFloat64);
  EXPECT_EQ((*list)[2].type, ElementType::kText);
}

TEST_F(CsvTest, QuotedFieldsKeepCommasQuotesAndLineEnds) {
  const std::string path = Write("a.csv", "\"a,b\",c\n\"x \"\"y\"\"\",\"1\n2\"\n\"\",z");
  EXPECT_EQ(OpenArray({path + ":a,b", {}, {}})->ReadText(0, 2).value(),
            (std::vector<std::string>{"x \"y\"", ""}));
  EXPECT_EQ(OpenArray({path + ":c", {}, {}})->ReadText(0, 2).value(),
            (std::vector<std::string>{"1\n2", "z"}));
}

TEST_F(CsvTest, SingleColumnIsAVectorEvenOfText) {
  const std::string path = Write("split.csv", "split\ntrain\ntest\n\n");
  EXPECT_EQ(Shape(path), std::vector<int64_t>{2});
  EXPECT_EQ(OpenArray({path, {}, {}})->ReadText(1, 1).value(), std::vector<std::string>{"test"});
}

TEST_F(CsvTest, FieldThatIsNoNumberNamesLineAndColumn) {
  ExpectBadData("a,b\n1,2\n3,x\n", "line 3, column \"b\" is \"x\"");
  ExpectBadData("a,b\n1,2\n3,\n", "line 3, column \"b\" is \"\"");
  std::vector<float> values(2);
  const std::string path = Write("c.csv", "a,b\n1,2\n3,x\n") + ":b";
  const Status status = OpenArray({path, {}, {}})->ReadFloats(0, 2, values);
  EXPECT_EQ(status.code(), ErrorCode::kBadData);
  EXPECT_NE(status.message().find("row 1, column 0 is the text \"x\""), std::string::npos);
}

TEST_F(CsvTest, LinesMustHaveAsManyFieldsAsTheHeader) {
  ExpectBadData("a,b\n1,2\n\"p\nq\",1\n3\n", "line 5 has 1 fields, but the header has 2");
  ExpectBadData("a,b\n1,2,3\n", "line 2 has 3 fields");
  ExpectBadData("a,b\n1,2\n\n3,4\n", "line 3 has 1 fields");
}

TEST_F(CsvTest, BrokenQuotesAreRefused) {
  ExpectBadData("a\n\"1\n2\n", "line 2 has a quote that is never closed");
  ExpectBadData("a\n\"1\"2\n", "line 2 goes on after a closing quote");
}

TEST_F(CsvTest, HeaderMustNameTheColumns) {
  ExpectBadData("1.5,2\n3,4\n", "add a header line");
  ExpectBadData("a,a\n3,4\n", "\"a\" twice");
  ExpectBadData("\n\n", "no line");
  // pandas counts unnamed columns.
  EXPECT_EQ(Floats(Write("p.csv",
                         "\xef\xbb\xbf"
                         "0,1\n5,6\n")),
            (std::vector<float>{5, 6}));
}

}  // namespace
}  // namespace resmem
