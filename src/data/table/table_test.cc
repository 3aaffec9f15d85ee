#include "resmem/data/table.h"

#include <cmath>

#include "data/test_files.h"
#include "resmem/data/dataset.h"

namespace resmem {
namespace {

class TableTest : public DataTest {
 protected:
  Result<Dataset> Open(const std::string& text, const TableRoles& roles,
                       std::optional<TableLayout> layout = std::nullopt) {
    sources_.table = TableSource{Write("t.csv", text), roles, std::move(layout), true};
    return Dataset::Open(sources_);
  }
  void ExpectError(const std::string& text, const TableRoles& roles, const std::string& part,
                   std::optional<TableLayout> layout = std::nullopt) {
    const Result<Dataset> dataset = Open(text, roles, std::move(layout));
    ASSERT_FALSE(dataset.ok()) << text;
    EXPECT_NE(dataset.status().message().find(part), std::string::npos)
        << dataset.status().message();
  }
  // All keys, labels and logits.
  static Dataset::Block ReadAll(const Dataset& dataset) {
    Dataset::Block block;
    const Status status = dataset.Read(0, dataset.rows(), &block);
    EXPECT_TRUE(status.ok()) << status.message();
    return block;
  }
  static std::vector<float> Row(MatrixView view, int64_t row) {
    return {view.row(row), view.row(row) + view.columns};
  }

  DatasetSources sources_;
};

TableRoles Roles(const std::string& label, TableScale scale = TableScale::kNone) {
  TableRoles roles;
  roles.label = label;
  roles.scale = scale;
  return roles;
}

constexpr char kPets[] =
    "weight,kind,id,logit_dog,logit_cat,coat\n"
    "4,cat,7,0,1,long\n"
    "30,dog,8,2,0,short\n"
    "5,cat,9,0,3,short\n";

TEST_F(TableTest, ColumnsHaveRolesAndTheRestAreKeys) {
  TableRoles roles = Roles("kind");
  roles.logits = {"logit_*"};
  const Result<Dataset> dataset = Open(kPets, roles);
  ASSERT_TRUE(dataset.ok()) << dataset.status().message();
  const Dataset::Block block = ReadAll(*dataset);
  EXPECT_EQ(dataset->dim(), 3);  // weight, and a place for each coat
  EXPECT_EQ(Row(block.view.keys, 0), (std::vector<float>{4, 1, 0}));
  EXPECT_EQ(Row(block.view.keys, 1), (std::vector<float>{30, 0, 1}));
  EXPECT_EQ(Row(block.view.logits, 2), (std::vector<float>{0, 3}));
  EXPECT_EQ(block.ids, (std::vector<uint64_t>{7, 8, 9}));
  // The columns of the logits name the classes in their order, not the alphabet.
  EXPECT_EQ(dataset->class_names(), (std::vector<std::string>{"dog", "cat"}));
  EXPECT_EQ(block.labels, (std::vector<int32_t>{1, 0, 1}));
}

TEST_F(TableTest, LabelIsNeverAKey) {
  TableRoles roles = Roles("kind");
  roles.keys = {"weight", "kind"};
  ExpectError(kPets, roles, "\"kind\" is to be the label and a key");
  roles.keys = {"*"};  // everything else, the label not among it
  roles.logits = {"logit_*"};
  const Result<Dataset> dataset = Open(kPets, roles);
  ASSERT_TRUE(dataset.ok()) << dataset.status().message();
  EXPECT_EQ(dataset->dim(), 3);
  // Which column it is must be known where all others become keys.
  ExpectError("a,b\n1,2\n", {}, "which of its columns is the label?");
}

TEST_F(TableTest, AColumnNamedAsALabelIsAKeyOnlyIfAskedFor) {
  const std::string text = "a,kind,Class\n1,x,7\n2,y,8\n";
  ExpectError(text, Roles("kind"), "the column \"Class\" is named as a label is");
  TableRoles roles = Roles("kind");
  roles.keys = {"*"};
  ExpectError(text, roles, "--key-columns 'Class,*'");
  roles.keys = {"Class", "*"};
  const Result<Dataset> asked = Open(text, roles);
  ASSERT_TRUE(asked.ok()) << asked.status().message();
  EXPECT_EQ(asked->dim(), 2);
  roles = Roles("kind");
  roles.ignored = {"Class"};
  const Result<Dataset> without = Open(text, roles);
  ASSERT_TRUE(without.ok()) << without.status().message();
  EXPECT_EQ(without->dim(), 1);
}

TEST_F(TableTest, LaterTablesAreReadAsTheMemorysWas) {
  TableRoles roles = Roles("kind", TableScale::kStandard);
  roles.logits = {"logit_*"};
  const Result<Dataset> first = Open(kPets, roles);
  ASSERT_TRUE(first.ok()) << first.status().message();
  const TableLayout layout = first->table()->layout;
  const Result<TableLayout> kept = ParseTableLayout(TableLayoutText(layout), "m");
  ASSERT_TRUE(kept.ok()) << kept.status().message();
  EXPECT_EQ(*kept, layout);
  // Other order, no label, an unknown coat, one row: scales and categories are the memory's.
  sources_.class_names = first->class_names();
  const Result<Dataset> later =
      Open("logit_cat,logit_dog,coat,weight\n9,8,none at all,4\n", {}, layout);
  ASSERT_TRUE(later.ok()) << later.status().message();
  const Dataset::Block block = ReadAll(*later);
  const Dataset::Block before = ReadAll(*first);
  EXPECT_EQ(block.view.keys.row(0)[0], before.view.keys.row(0)[0]);
  EXPECT_NEAR(block.view.keys.row(0)[0], (4 - 13.0) / std::sqrt((81 + 289 + 64) / 3.0), 1e-6);
  EXPECT_EQ(block.view.keys.row(0)[1], 0);
  EXPECT_EQ(block.view.keys.row(0)[2], 0);
  EXPECT_EQ(later->table()->unknown_categories, 1);
  EXPECT_EQ(Row(block.view.logits, 0), (std::vector<float>{8, 9}));
  EXPECT_FALSE(later->has_labels());
  ExpectError("coat,logit_dog,logit_cat\nlong,1,2\n", {}, "has no column \"weight\"", layout);
  ExpectError("coat,weight\nlong,heavy\n", {}, "line 2, column \"weight\" is \"heavy\"", layout);
  ExpectError("coat,weight,kind\nlong,4,cow\n", {}, "\"cow\", which is none of the 2 classes",
              layout);
}

TEST_F(TableTest, MissingValuesAreRefusedWithTheirPlaceOrFilledWithTheMean) {
  const std::string text = "a,b,label\n1,2,0\n,3,1\n3,NA,0\n";
  ExpectError(text, Roles("label"), "line 3, column \"a\" has no value (\"\"); 2 are missing");
  TableRoles roles = Roles("label");
  roles.missing = MissingRule::kMean;
  const Result<Dataset> dataset = Open(text, roles);
  ASSERT_TRUE(dataset.ok()) << dataset.status().message();
  const Dataset::Block block = ReadAll(*dataset);
  EXPECT_EQ(Row(block.view.keys, 1), (std::vector<float>{2, 3}));
  EXPECT_EQ(Row(block.view.keys, 2), (std::vector<float>{3, 2.5f}));
  EXPECT_EQ(dataset->table()->filled, 2);
}

TEST_F(TableTest, ScalesAreMeasuredOnTrainingRowsOnly) {
  const Result<Dataset> dataset =
      Open("a,label,split\n0,0,train\n2,1,train\n1000,0,test\n", Roles("", TableScale::kStandard));
  ASSERT_TRUE(dataset.ok()) << dataset.status().message();
  EXPECT_EQ(dataset->table()->layout.keys[0].mean, 1);
  EXPECT_EQ(dataset->table()->layout.keys[0].deviation, 1);
}

TEST_F(TableTest, NumbersThatAreNoClassNumbersAreNames) {
  TableRoles roles = Roles("y");
  roles.logits = {"f*"};
  const Result<Dataset> dataset = Open("a,y,f0,f1\n1,10,0,1\n2,9,1,0\n", roles);
  ASSERT_TRUE(dataset.ok()) << dataset.status().message();
  EXPECT_EQ(dataset->class_names(), (std::vector<std::string>{"9", "10"}));  // by value
  EXPECT_EQ(ReadAll(*dataset).labels, (std::vector<int32_t>{1, 0}));
  const Result<Dataset> numbers = Open("a,y,f0,f1\n1,1.0,0,1\n2,0.0,1,0\n", roles);
  ASSERT_TRUE(numbers.ok()) << numbers.status().message();
  EXPECT_TRUE(numbers->class_names().empty());
  EXPECT_EQ(ReadAll(*numbers).labels, (std::vector<int32_t>{1, 0}));
  ExpectError("a,y,f0,f1\n1,x,0,1\n2,y,1,0\n3,z,1,0\n", roles, "has 3 different names (x, y, z)");
}

TEST_F(TableTest, CopiesOfTheLabelAndColumnsOfManyTextsAreFound) {
  std::string text = "a,copy,label\n", names = "name,label\n";
  for (int i = 0; i < 70; ++i) {
    text += std::to_string(i % 7) + (i % 2 ? ",yes,1\n" : ",no,0\n");
    names += "person" + std::to_string(i) + (i % 2 ? ",1\n" : ",0\n");
  }
  const Result<Dataset> dataset = Open(text, Roles("label"));
  ASSERT_TRUE(dataset.ok()) << dataset.status().message();
  EXPECT_EQ(dataset->table()->telltale, std::vector<std::string>{"copy"});
  ExpectError(names, Roles("label"), "column \"name\" holds text of more than 64");
}

TEST_F(TableTest, SemicolonsAndTabsSeparateToo) {
  for (const std::string separator : {";", "\t"}) {
    std::string text = "a;label\n1.5;0\n2.5;1\n";
    for (char& c : text) c = c == ';' ? separator[0] : c;
    const Result<Dataset> dataset = Open(text, Roles("label"));
    ASSERT_TRUE(dataset.ok()) << dataset.status().message();
    EXPECT_EQ(Row(ReadAll(*dataset).view.keys, 1), std::vector<float>{2.5f});
  }
}

TEST_F(TableTest, BrokenTablesAndLayoutsAreRefused) {
  ExpectError("a,label\n1\n", Roles("label"), "line 2 has 1 fields, but the header has 2");
  ExpectError("a,label\n", Roles("label"), "has a header, but no row");
  ExpectError("a,label\n1,\n", Roles("label"), "line 2, column \"label\" has no label");
  ExpectError("a,id,label\n1,x,0\n", Roles("label"), "ids are whole numbers");
  ExpectError("a,label\n?,0\n", Roles("label"), "\"a\" is empty in all rows");
  for (const char* text : {"", "{}", "[]", "{\"keys\":[]}",
                           "{\"keys\":[{\"column\":\"a\","
                           "\"deviation\":0}]}",
                           "{\"keys\":[{\"column\":\"a\"}],\"label\":3}"}) {
    EXPECT_EQ(ParseTableLayout(text, "m").status().code(), ErrorCode::kCorrupt) << text;
  }
}

// --- arrays ----------------------------------------------------------------------------------

class RowsTest : public TableTest {
 protected:
  RowsTest() {
    Write("keys.npy", NpyText("<f4", {4, 1}, BytesOf<float>({1, NAN, 3, 4})));
    Write("logits.npy", NpyText("<f4", {4, 2}, BytesOf<float>({0, 1, 1, 0, 1, 0, INFINITY, 0})));
    Write("labels.npy", NpyText("<i8", {4}, BytesOf<int64_t>({0, 1, 1, 0})));
    sources_.all = folder_;
  }
};

TEST_F(RowsTest, BadRowsAreSkippedAndTheOthersKeepTheirNumbers) {
  sources_.skip_bad = true;
  sources_.ids_from_numbers = true;
  const Result<Dataset> dataset = Dataset::Open(sources_);
  ASSERT_TRUE(dataset.ok()) << dataset.status().message();
  EXPECT_EQ(dataset->rows(), 2);
  EXPECT_EQ(dataset->skipped().rows, 2);
  EXPECT_EQ(dataset->skipped().places[0], "row 1 (keys, column 0 is nan)");
  EXPECT_EQ(dataset->skipped().places[1], "row 3 (logits, column 0 is inf)");
  EXPECT_EQ(dataset->row_number(1), 2);
  const Dataset::Block block = ReadAll(*dataset);
  EXPECT_EQ(block.keys, (std::vector<float>{1, 3}));
  EXPECT_EQ(block.labels, (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(block.ids, (std::vector<uint64_t>{0, 2}));
  Dataset::Block second;
  ASSERT_TRUE(dataset->Read(1, 1, &second).ok());
  EXPECT_EQ(second.view.keys.row(0)[0], 3);
  EXPECT_EQ(dataset->CountRoles()->at(0), 2);
  Write("labels.npy", NpyText("<i8", {4}, BytesOf<int64_t>({9, 1, -1, 0})));
  EXPECT_NE(Dataset::Open(sources_).status().message().find("none of its 4 rows can be used"),
            std::string::npos);
}

TEST_F(RowsTest, ProbabilitiesCountAsTheirLogarithmsFromAFloor) {
  Write("keys.npy", NpyText("<f4", {2, 1}, BytesOf<float>({1, 2})));
  Write("labels.npy", NpyText("<i8", {2}, BytesOf<int64_t>({0, 1})));
  std::filesystem::remove(folder_ + "/logits.npy");
  Write("probabilities.npy", NpyText("<f4", {2, 2}, BytesOf<float>({1, 0, 0.25f, 0.75f})));
  const Result<Dataset> dataset = Dataset::Open(sources_);
  ASSERT_TRUE(dataset.ok()) << dataset.status().message();
  const Dataset::Block block = ReadAll(*dataset);
  EXPECT_FLOAT_EQ(block.view.logits.row(0)[0], 0);
  EXPECT_FLOAT_EQ(block.view.logits.row(0)[1], std::log(1e-4f));
  EXPECT_FLOAT_EQ(block.view.logits.row(1)[0], std::log(0.25f));
  EXPECT_EQ(dataset->probability_floor(), kProbabilityFloor);
  // One column is the probability of class 1.
  Write("probabilities.npy", NpyText("<f4", {2, 1}, BytesOf<float>({1, 0.25f})));
  const Result<Dataset> one = Dataset::Open(sources_);
  ASSERT_TRUE(one.ok()) << one.status().message();
  EXPECT_EQ(one->outputs(), 2);
  EXPECT_FLOAT_EQ(ReadAll(*one).view.logits.row(1)[0], std::log(0.75f));
  EXPECT_FLOAT_EQ(ReadAll(*one).view.logits.row(0)[0], std::log(1e-4f));
}

TEST_F(RowsTest, WhatIsNoProbabilityIsRefused) {
  Write("keys.npy", NpyText("<f4", {1, 1}, BytesOf<float>({1})));
  std::filesystem::remove(folder_ + "/logits.npy");
  std::filesystem::remove(folder_ + "/labels.npy");
  const auto message = [&](std::initializer_list<float> row) {
    Write("probabilities.npy", NpyText("<f4", {1, 2}, BytesOf<float>(row)));
    const Result<Dataset> dataset = Dataset::Open(sources_);
    Dataset::Block block;
    return dataset.ok() ? dataset->Read(0, 1, &block).message() : dataset.status().message();
  };
  EXPECT_NE(message({0.5f, 0.25f}).find("row 0 sums to 0.75"), std::string::npos);
  EXPECT_NE(message({-1, 2}).find("column 0 is -1, but probabilities are 0 to 1"),
            std::string::npos);
  EXPECT_NE(message({NAN, 1}).find("only finite numbers"), std::string::npos);
  EXPECT_EQ(message({0.25f, 0.75f}), "");
  sources_.probability_floor = 1;
  EXPECT_NE(message({0.25f, 0.75f}).find("above 0 and below 1"), std::string::npos);
}

}  // namespace
}  // namespace resmem
