#include "resmem/data/new_classes.h"

#include <cmath>

#include "data/test_files.h"
#include "fixtures/small_memory.h"
#include "resmem/data/dataset.h"
#include "resmem/predictor.h"

namespace resmem {
namespace {

class NewClassesTest : public DataTest {};

TEST_F(NewClassesTest, BaseGivesANewClassTheFloorRelativeToItsOwn) {
  std::vector<float> logits = {1, 2, 0, 0};
  FillNewLogits(2, 0.01f, logits);
  EXPECT_EQ(logits[0], 1);
  EXPECT_EQ(logits[1], 2);
  EXPECT_NEAR(logits[2], std::log(0.01 * (std::exp(1) + std::exp(2))), 1e-6);
  EXPECT_EQ(logits[2], logits[3]);
}

TEST_F(NewClassesTest, MemoryWithAnotherClassAnswersItNearItsRowsAndOldOnesAsBefore) {
  const std::string path = folder_ + "/m.resmem";
  fixtures::Problem problem = fixtures::MakeProblem(200, 4, 4, 1);
  MemoryDescription description = fixtures::DescribeShape(4, 4, 5);
  description.has_sources = true;
  Rows rows = problem.view();
  std::vector<std::string> sources;
  for (int row = 0; row < 200; ++row) sources.push_back("s" + std::to_string(row));
  rows.sources = sources;
  fixtures::Write(path, description, rows);
  std::vector<float> before(4);
  const MatrixView key(problem.keys.data(), 1, 4), logits(problem.logits.data(), 1, 4);
  {
    const ResidualMemory memory = fixtures::Open(path);
    const Predictor predictor(memory);
    ASSERT_TRUE(predictor.Predict(key, logits, predictor.DefaultOptions(), before).ok());
  }
  const Status added = AddClasses(path, 5, {}, 1e-4f);
  ASSERT_TRUE(added.ok()) << added.message();
  const float far[] = {100, 100, 100, 100};
  {
    const ResidualMemory memory = fixtures::Open(path);
    EXPECT_EQ(memory.rows(), 200);
    EXPECT_EQ(memory.description().outputs, 5);
    EXPECT_EQ(BaseClasses(memory.description()), 4);
    EXPECT_EQ(memory.source(7), "s7");
    Result<MemoryWriter> writer = MemoryWriter::Append(path, 5);
    ASSERT_TRUE(writer.ok());
    for (int i = 0; i < 5; ++i) {
      std::vector<float> wide = {0, 1, 0, 0, 0};
      FillNewLogits(4, 1e-4f, wide);
      const int32_t label[] = {4};
      const std::string source[] = {"new"};
      Rows row;
      row.keys = MatrixView(far, 1, 4);
      row.logits = MatrixView(wide.data(), 1, 5);
      row.labels = label;
      row.sources = source;
      const Status status = writer->Add(row);
      ASSERT_TRUE(status.ok()) << status.message();
    }
    ASSERT_TRUE(writer->Finish().ok());
  }
  const ResidualMemory memory = fixtures::Open(path);
  const Predictor predictor(memory);
  std::vector<float> wide(problem.logits.begin(), problem.logits.begin() + 4), after(5);
  wide.push_back(0);
  FillNewLogits(4, 1e-4f, wide);
  const MatrixView query(wide.data(), 1, 5);
  ASSERT_TRUE(predictor.Predict(key, query, predictor.DefaultOptions(), after).ok());
  for (size_t c = 0; c < 4; ++c) EXPECT_NEAR(after[c], before[c], 2e-3) << c;
  ASSERT_TRUE(
      predictor.Predict(MatrixView(far, 1, 4), query, predictor.DefaultOptions(), after).ok());
  EXPECT_EQ(ArgMax(after), 4);
}

// Rows of class 4, far from all others; `ids` may be empty.
struct FarRows {
  explicit FarRows(std::vector<uint64_t> given) : ids(std::move(given)) {
    for (int row = 0; row < 3; ++row) {
      std::vector<float> wide = {0, 1, 0, 0, 0};
      FillNewLogits(4, 1e-4f, wide);
      logits.insert(logits.end(), wide.begin(), wide.end());
    }
  }
  RowSource Source() const {
    return RowSource(3, [this](const RowSource::Use& use) {
      Rows rows;
      rows.keys = MatrixView(keys.data(), 3, 4);
      rows.logits = MatrixView(logits.data(), 3, 5);
      rows.labels = labels;
      rows.ids = ids;
      return use(0, rows);
    });
  }

  std::vector<uint64_t> ids;
  std::vector<float> keys = std::vector<float>(12, 100), logits;
  std::vector<int32_t> labels = {4, 4, 0};
};

TEST_F(NewClassesTest, RowsAndTheirClassesComeInOneChangeOrNotAtAll) {
  const std::string path = folder_ + "/m.resmem";
  const fixtures::Problem problem = fixtures::MakeProblem(20, 4, 4, 1);
  fixtures::Write(path, fixtures::DescribeShape(4, 4, 5), problem.view());
  const std::vector<uint64_t> third = {19};
  ASSERT_TRUE(DeleteRows(path, third).ok());
  // An id that is there, or twice among the new ones: the message counts the new rows.
  for (const auto& [ids, message] :
       {std::pair{std::vector<uint64_t>{50, 7, 51}, "ids, row 1: the id 7 is already"},
        std::pair{std::vector<uint64_t>{50, 51, 51}, "ids, rows 1 and 2: both are 51"}}) {
    const FarRows rows(ids);
    const auto refused = AppendNewClasses(path, 5, {}, 1e-4f, rows.Source());
    EXPECT_EQ(refused.status().code(), ErrorCode::kBadData);
    EXPECT_NE(refused.status().message().find(message), std::string::npos)
        << refused.status().message();
    EXPECT_EQ(fixtures::Open(path).description().outputs, 4);
    EXPECT_EQ(fixtures::Open(path).rows(), 19);
  }
  const int64_t before = CommittedChanges();
  const FarRows rows({});
  const auto added = AppendNewClasses(path, 5, {}, 1e-4f, rows.Source());
  ASSERT_TRUE(added.ok() && *added) << added.status().message();
  EXPECT_EQ(CommittedChanges(), before + 1);
  const ResidualMemory memory = fixtures::Open(path);
  EXPECT_EQ(memory.description().outputs, 5);
  EXPECT_EQ(memory.rows(), 22);
  // Numbered on from the largest id that ever was.
  ASSERT_TRUE(memory.FindId(20).has_value());
  EXPECT_EQ(memory.label(*memory.FindId(20)), 4);
  EXPECT_FALSE(memory.FindId(19).has_value());
}

TEST_F(NewClassesTest, TokensOfEarlierAppendsStayKnown) {
  const std::string path = folder_ + "/m.resmem";
  const fixtures::Problem problem = fixtures::MakeProblem(20, 4, 4, 1);
  fixtures::Write(path, fixtures::DescribeShape(4, 4, 5), problem.view());
  {
    Result<MemoryWriter> writer = MemoryWriter::Append(path, 20, {.token = "first"});
    ASSERT_TRUE(writer.ok() && writer->Add(problem.view()).ok() && writer->Finish().ok());
  }
  const FarRows rows({});
  const auto added = AppendNewClasses(path, 5, {}, 1e-4f, rows.Source(), {.token = "far"});
  ASSERT_TRUE(added.ok() && *added) << added.status().message();
  EXPECT_TRUE(MemoryWriter::Append(path, 20, {.token = "first"})->repeated());
  EXPECT_TRUE(MemoryWriter::Append(path, 3, {.token = "far"})->repeated());
  const auto again = AppendNewClasses(path, 6, {}, 1e-4f, rows.Source(), {.token = "far"});
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_FALSE(*again);
  EXPECT_EQ(AppendNewClasses(path, 6, {}, 1e-4f, rows.Source(), {.token = "first"}).status().code(),
            ErrorCode::kMismatch);
  EXPECT_EQ(fixtures::Open(path).description().outputs, 5);
  EXPECT_EQ(fixtures::Open(path).rows(), 43);
}

TEST_F(NewClassesTest, DatasetFillsLogitsOfTheBaseAndCountsNewLabels) {
  Write("keys.npy", NpyText("<f4", {2, 1}, BytesOf<float>({1, 2})));
  Write("logits.npy", NpyText("<f4", {2, 2}, BytesOf<float>({0, 1, 1, 0})));
  Write("labels.npy", NpyText("<i8", {2}, BytesOf<int64_t>({3, 1})));
  DatasetSources sources;
  sources.all = folder_;
  sources.classes = 3;  // of the memory; its base has 2
  sources.base_classes = 2;
  Result<Dataset> dataset = Dataset::Open(sources);
  ASSERT_TRUE(dataset.ok()) << dataset.status().message();
  EXPECT_EQ(dataset->outputs(), 3);
  EXPECT_EQ(dataset->added_classes(), 0);
  Dataset::Block block;
  EXPECT_NE(dataset->Read(0, 2, &block).message().find("labels are 0 to 2"), std::string::npos);
  sources.new_classes = true;
  dataset = Dataset::Open(sources);
  ASSERT_TRUE(dataset.ok());
  EXPECT_EQ(dataset->outputs(), 4);
  EXPECT_EQ(dataset->added_classes(), 1);
  ASSERT_TRUE(dataset->Read(0, 2, &block).ok());
  EXPECT_EQ(block.view.logits.columns, 4);
  EXPECT_NEAR(block.view.logits.row(0)[2], std::log(1e-4 * (1 + std::exp(1))), 1e-5);
  EXPECT_EQ(block.labels, (std::vector<int32_t>{3, 1}));
  Write("labels.npy", NpyText("<i8", {2}, BytesOf<int64_t>({30000, 1})));
  EXPECT_NE(Dataset::Open(sources).status().message().find("at most 1000 are added"),
            std::string::npos);
  // Columns of neither the base nor the memory are not filled.
  Write("labels.npy", NpyText("<i8", {2}, BytesOf<int64_t>({0, 1})));
  sources.base_classes = 4;
  sources.classes = 5;
  EXPECT_EQ(Dataset::Open(sources)->outputs(), 2);
}

TEST_F(NewClassesTest, WhatCannotGrowIsRefused) {
  const fixtures::Problem problem = fixtures::MakeProblem(20, 4, 4, 1);
  MemoryDescription description = fixtures::DescribeShape(4, 4, 5);
  fixtures::Write(folder_ + "/m", description, problem.view());
  EXPECT_EQ(AddClasses(folder_ + "/m", 3, {}, 1e-4f).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(AddClasses(folder_ + "/m", 5, {"a"}, 1e-4f).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(AddClasses(folder_ + "/none", 5, {}, 1e-4f).code(), ErrorCode::kNotFound);
  description.form = ResidualForm::kDense;
  fixtures::Write(folder_ + "/frozen", description, problem.view());
  EXPECT_EQ(AddClasses(folder_ + "/frozen", 5, {}, 1e-4f).code(), ErrorCode::kUnsupported);
  EXPECT_EQ(fixtures::Open(folder_ + "/frozen").description().outputs, 4);
}

}  // namespace
}  // namespace resmem
