#include "resmem/data/dataset.h"

#include <limits>

#include "data/test_files.h"

namespace resmem {
namespace {

class DatasetTest : public DataTest {
 protected:
  // Three rows of two keys and two logits.
  DatasetTest() {
    Write("keys.npy", NpyText("<f4", {3, 2}, BytesOf<float>({1, 2, 3, 4, 5, 6})));
    Write("logits.npy", NpyText("<f8", {3, 2}, BytesOf<double>({1, 0, 0, 1, 2, 2})));
    Write("labels.npy", NpyText("<i8", {3}, BytesOf<int64_t>({0, 1, 1})));
    sources_.all = folder_;
  }

  // The error of opening, or of reading all rows.
  Status Problem(Task task = Task::kClassification) const {
    Result<Dataset> dataset = Dataset::Open(sources_, task);
    if (!dataset.ok()) return dataset.status();
    Dataset::Block block;
    return dataset->Read(0, dataset->rows(), &block);
  }
  void ExpectBadData(const std::string& part, Task task = Task::kClassification) const {
    const Status status = Problem(task);
    EXPECT_EQ(status.code(), ErrorCode::kBadData) << status.message();
    EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
  }

  DatasetSources sources_;
};

TEST_F(DatasetTest, FolderWithUsualNamesIsReadInBlocks) {
  Result<Dataset> dataset = Dataset::Open(sources_);
  ASSERT_TRUE(dataset.ok()) << dataset.status().message();
  EXPECT_EQ(dataset->rows(), 3);
  EXPECT_EQ(dataset->dim(), 2);
  EXPECT_EQ(dataset->outputs(), 2);
  EXPECT_TRUE(dataset->has_labels());
  EXPECT_FALSE(dataset->has_ids());
  Dataset::Block block;
  ASSERT_TRUE(dataset->Read(1, 2, &block).ok());
  EXPECT_EQ(block.view.count(), 2);
  EXPECT_EQ(block.view.keys.row(0)[1], 4.0f);
  EXPECT_EQ(block.view.logits.row(1)[0], 2.0f);
  EXPECT_EQ(block.view.labels[0], 1);
  EXPECT_TRUE(block.view.roles.empty());
  EXPECT_TRUE(block.keys.empty());  // used in the map
  const Rows last = block.view.Slice(1, 1);
  EXPECT_EQ(last.count(), 1);
  EXPECT_EQ(last.keys.row(0)[0], 5.0f);
  EXPECT_EQ(last.labels.size(), 1u);
  EXPECT_EQ(dataset->Read(2, 2, &block).code(), ErrorCode::kInvalidArgument);
  dataset->Drop(0, 3);
  ASSERT_TRUE(dataset->Read(0, 1, &block).ok());
  EXPECT_EQ(block.view.keys.row(0)[0], 1.0f);
}

TEST_F(DatasetTest, NamedSourceWinsOverTheFolder) {
  sources_.labels =
      ArraySource{Write("other.npy", NpyText("|u1", {3}, std::string("\1\0\0", 3))), {}, {}};
  Result<Dataset> dataset = Dataset::Open(sources_);
  ASSERT_TRUE(dataset.ok());
  Dataset::Block block;
  ASSERT_TRUE(dataset->Read(0, 3, &block).ok());
  EXPECT_EQ(block.labels, (std::vector<int32_t>{1, 0, 0}));
}

TEST_F(DatasetTest, WholeNumbersStoredAsFloatsAreLabels) {
  Write("labels.npy", NpyText("<f4", {3, 1}, BytesOf<float>({0, 1, 0})));
  EXPECT_TRUE(Problem().ok()) << Problem().message();
  Write("labels.npy", NpyText("<f4", {3}, BytesOf<float>({0, 1, 0.5f})));
  ExpectBadData("labels.npy: row 2, column 0 is 0.5");
}

TEST_F(DatasetTest, NotFiniteValuesNameFileRowColumnAndValue) {
  const float infinity = std::numeric_limits<float>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Write("keys.npy", NpyText("<f4", {3, 2}, BytesOf<float>({1, 2, 3, -infinity, 5, 6})));
  ExpectBadData("keys.npy: row 1, column 1 is -inf");
  Write("keys.npy", NpyText("<f4", {3, 2}, BytesOf<float>({1, 2, 3, 4, 5, 6})));
  Write("logits.npy", NpyText("<f8", {3, 2}, BytesOf<double>({1, 0, 0, 1, nan, 2})));
  ExpectBadData("logits.npy: row 2, column 0 is nan");
}

TEST_F(DatasetTest, LabelOutsideTheClassesIsRefused) {
  Write("labels.npy", NpyText("<i8", {3}, BytesOf<int64_t>({0, 1, 2})));
  ExpectBadData("labels.npy: row 2 is label 2, but labels are 0 to 1");
  Write("labels.npy", NpyText("<i8", {3}, BytesOf<int64_t>({0, -1, 1})));
  ExpectBadData("row 1 is label -1");
}

TEST_F(DatasetTest, ShapesThatCannotBeADatasetAreRefused) {
  Write("labels.npy", NpyText("<i8", {2}, BytesOf<int64_t>({0, 1})));
  ExpectBadData("labels.npy: has 2 rows");
  Write("labels.npy", NpyText("<i8", {3, 2}, BytesOf<int64_t>({0, 1, 1, 0, 1, 0})));
  ExpectBadData("argmax");
  Write("labels.npy", NpyText("<i8", {3}, BytesOf<int64_t>({0, 1, 0})));
  Write("logits.npy", NpyText("<f4", {3, 1}, BytesOf<float>({0, 1, 0})));
  ExpectBadData("at least 2 columns");
  Write("logits.npy", NpyText("<f4", {3, 0}, ""));
  ExpectBadData("logits.npy: is empty (shape 3 x 0)");
  Write("keys.npy", NpyText("<f4", {0, 2}, ""));
  ExpectBadData("keys.npy: is empty (shape 0 x 2)");
  Write("logits.npy", NpyText("<f4", {3, 2}, BytesOf<float>({0, 1, 0, 1, 0, 1})));
  Write("keys.npy", NpyText("|S1", {3}, "abc"));
  ExpectBadData("holds text");
}

TEST_F(DatasetTest, SplitMayBeNumbersOrWords) {
  Write("split.npy", NpyText("|u1", {3}, std::string("\0\1\2", 3)));
  const std::vector<Role> expected = {Role::kTrain, Role::kValidation, Role::kTest};
  Dataset::Block block;
  ASSERT_TRUE(Dataset::Open(sources_)->Read(0, 3, &block).ok());
  EXPECT_EQ(block.roles, expected);
  Write("split.npy", NpyText("|S5", {3}, std::string("trainval\0\0test\0", 15)));
  Result<Dataset> dataset = Dataset::Open(sources_);
  ASSERT_TRUE(dataset->Read(0, 3, &block).ok());
  EXPECT_EQ(block.roles, expected);
  EXPECT_EQ(dataset->CountRoles().value(), (std::vector<int64_t>{0, 1, 1, 1}));
  Write("split.npy", NpyText("|u1", {3}, std::string("\0\1\3", 3)));
  ExpectBadData("split.npy: row 2 is \"3\"");
}

TEST_F(DatasetTest, GivenRoleMarksEveryRowWithoutASplit) {
  sources_.role = Role::kTest;
  Result<Dataset> dataset = Dataset::Open(sources_);
  Dataset::Block block;
  ASSERT_TRUE(dataset->Read(0, 2, &block).ok());
  EXPECT_EQ(block.view.roles.size(), 2u);
  EXPECT_EQ(block.view.roles[1], Role::kTest);
  EXPECT_EQ(dataset->CountRoles().value(), (std::vector<int64_t>{0, 0, 0, 3}));
  EXPECT_STREQ(RoleName(Role::kTest), "test");
}

TEST_F(DatasetTest, IdsSourcesAndSlicesTravelWithTheRows) {
  Write("ids.npy", NpyText("<i4", {3}, BytesOf<int32_t>({7, 9, 8})));
  Write("sources.npy", NpyText("|S2", {3}, "aabbcc"));
  Write("slices.npy", NpyText("<i4", {3}, BytesOf<int32_t>({3, 3, 4})));
  Result<Dataset> dataset = Dataset::Open(sources_);
  ASSERT_TRUE(dataset.ok());
  EXPECT_TRUE(dataset->has_slices());
  Dataset::Block block;
  ASSERT_TRUE(dataset->Read(1, 2, &block).ok());
  EXPECT_EQ(block.ids, (std::vector<uint64_t>{9, 8}));
  EXPECT_EQ(block.view.sources[1], "cc");
  EXPECT_EQ(block.slices, (std::vector<std::string>{"3", "4"}));
  Write("ids.npy", NpyText("<i4", {3}, BytesOf<int32_t>({7, -9, 8})));
  ExpectBadData("ids.npy: row 1 is id -9");
}

TEST_F(DatasetTest, RegressionReadsTargetsAndPredictions) {
  Write("predictions.npy", NpyText("<f4", {3, 1}, BytesOf<float>({1, 2, 3})));
  Write("targets.npy", NpyText("<f8", {3}, BytesOf<double>({1.5, 2.5, 3.5})));
  Result<Dataset> dataset = Dataset::Open(sources_, Task::kRegression);
  ASSERT_TRUE(dataset.ok()) << dataset.status().message();
  EXPECT_TRUE(dataset->has_labels());
  EXPECT_EQ(dataset->outputs(), 1);
  Dataset::Block block;
  ASSERT_TRUE(dataset->Read(0, 3, &block).ok());
  EXPECT_EQ(block.view.targets.row(2)[0], 3.5f);
  EXPECT_TRUE(block.view.labels.empty());
  Write("targets.npy", NpyText("<f8", {3, 2}, BytesOf<double>({1, 2, 3, 4, 5, 6})));
  ExpectBadData("targets.npy: has 2 columns", Task::kRegression);
  sources_.labels = ArraySource{folder_ + "/labels.npy", {}, {}};
  EXPECT_EQ(Problem(Task::kRegression).code(), ErrorCode::kInvalidArgument);
}

TEST_F(DatasetTest, MissingKeysAndDoubledNamesAreErrors) {
  Write("keys.csv", "a,b\n1,2\n");
  EXPECT_EQ(Problem().code(), ErrorCode::kInvalidArgument);
  std::filesystem::remove(folder_ + "/keys.csv");
  std::filesystem::remove(folder_ + "/keys.npy");
  EXPECT_EQ(Problem().code(), ErrorCode::kNotFound);
  sources_.all = folder_ + "/none";
  EXPECT_EQ(Problem().code(), ErrorCode::kNotFound);
  sources_.all.clear();
  EXPECT_EQ(Problem().code(), ErrorCode::kInvalidArgument);
}

// Keys are the row's number and its square, the logit of class 1 is the row's number.
class Squares : public RowMaker {
 public:
  explicit Squares(std::vector<int32_t> labels) : labels_(std::move(labels)) {}
  const std::string& name() const override { return name_; }
  int64_t rows() const override { return 3; }
  int64_t dim() const override { return 2; }
  int64_t outputs() const override { return 2; }
  Status Make(int64_t begin, int64_t count, std::span<float> keys,
              std::span<float> logits) const override {
    for (int64_t i = 0; i < count; ++i) {
      const auto row = static_cast<float>(begin + i);
      keys[static_cast<size_t>(2 * i)] = row;
      keys[static_cast<size_t>(2 * i + 1)] = row * row;
      logits[static_cast<size_t>(2 * i)] = 0;
      logits[static_cast<size_t>(2 * i + 1)] =
          begin + i == infinite_row ? std::numeric_limits<float>::infinity() : row;
    }
    return {};
  }
  std::span<const int32_t> labels() const override { return labels_; }
  std::string source(int64_t row) const override { return "square " + std::to_string(row); }

  int64_t infinite_row = -1;

 private:
  std::string name_ = "squares";
  std::vector<int32_t> labels_;
};

TEST_F(DatasetTest, MadeRowsReadLikeArrays) {
  sources_ = {};
  sources_.made = std::make_shared<Squares>(std::vector<int32_t>{1, 0, 1});
  Write("split.npy", NpyText("|u1", {3}, std::string("\0\2\2", 3)));
  sources_.split = ArraySource{folder_ + "/split.npy", {}, {}};
  Result<Dataset> dataset = Dataset::Open(sources_);
  ASSERT_TRUE(dataset.ok()) << dataset.status().message();
  EXPECT_TRUE(dataset->made());
  EXPECT_TRUE(dataset->has_labels() && dataset->has_logits() && dataset->has_sources());
  EXPECT_EQ(dataset->rows(), 3);
  EXPECT_EQ(dataset->dim(), 2);
  Dataset::Block block;
  ASSERT_TRUE(dataset->Read(1, 2, &block).ok());
  EXPECT_EQ(block.view.keys.row(1)[1], 4.0f);
  EXPECT_EQ(block.view.logits.row(0)[1], 1.0f);
  EXPECT_EQ(block.labels, (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(block.view.sources[0], "square 1");
  EXPECT_EQ(block.view.roles[1], Role::kTest);
  dataset->Drop(0, 3);
  sources_.labels = ArraySource{folder_ + "/labels.npy", {}, {}};
  ASSERT_TRUE(Dataset::Open(sources_)->Read(0, 3, &block).ok());
  EXPECT_EQ(block.labels, (std::vector<int32_t>{0, 1, 1}));
}

TEST_F(DatasetTest, MadeRowsAreCheckedLikeArrays) {
  const auto made = std::make_shared<Squares>(std::vector<int32_t>{1, 0, 2});
  sources_.made = made;
  EXPECT_EQ(Problem().code(), ErrorCode::kInvalidArgument);  // beside the folder of arrays
  sources_ = {};
  sources_.made = made;
  ExpectBadData("squares: row 2 is label 2");
  made->infinite_row = 1;
  ExpectBadData("squares (logits): row 1, column 1 is inf");
  sources_.ids =
      ArraySource{Write("ids.npy", NpyText("<i4", {2}, BytesOf<int32_t>({7, 9}))), {}, {}};
  ExpectBadData("ids.npy: has 2 rows, but squares has 3");
}

}  // namespace
}  // namespace resmem
