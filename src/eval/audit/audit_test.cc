#include "resmem/audit.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "fixtures/every_memory.h"

namespace resmem {
namespace {

using fixtures::DescribeShape;
using fixtures::MakeProblem;
using fixtures::Open;
using fixtures::Problem;
using fixtures::TemporaryFolder;
using fixtures::Write;

constexpr int64_t kAuditDim = 8, kAuditClasses = 4;

// Mean loss of a memory's ResMem answers, as HarmReport has it.
double MeanLoss(const Predictor& predictor, const Rows& rows) {
  const MemoryDescription& description = predictor.memory().description();
  const auto outputs = static_cast<size_t>(description.outputs);
  std::vector<float> scores(static_cast<size_t>(rows.count()) * outputs);
  EXPECT_TRUE(predictor.Predict(rows.keys, rows.logits, predictor.DefaultOptions(), scores).ok());
  double loss = 0;
  for (int64_t q = 0; q < rows.count(); ++q) {
    const auto score = std::span(scores).subspan(static_cast<size_t>(q) * outputs, outputs);
    if (description.task == Task::kRegression) {
      for (size_t c = 0; c < outputs; ++c) {
        const double error = static_cast<double>(score[c] - rows.targets.row(q)[c]);
        loss += error * error / static_cast<double>(outputs);
      }
      continue;
    }
    EXPECT_TRUE(
        ToProbabilities(description.calibrator, description.calibrator_temperature, score).ok());
    const float p = score[static_cast<size_t>(rows.labels[static_cast<size_t>(q)])];
    loss -= std::log(std::max(static_cast<double>(p), 0x1p-23));
  }
  return loss;
}

TEST(AuditTest, PlantedLabelErrorsAreSuspectsAndTheirTrueLabelsAreSuggested) {
  const TemporaryFolder folder;
  Problem problem = MakeProblem(400, kAuditDim, kAuditClasses, 3);
  const std::vector<int32_t> truth = problem.labels;
  std::set<int64_t> planted;
  for (int64_t row = 7; row < 400; row += 20) {
    problem.labels[static_cast<size_t>(row)] =
        (truth[static_cast<size_t>(row)] + 1) % int32_t{kAuditClasses};
    planted.insert(row);
  }
  Write(folder / "m", DescribeShape(kAuditDim, kAuditClasses, 10), problem.view());
  const ResidualMemory memory = Open(folder / "m");
  const Predictor predictor(memory);
  const Result<Audit> audit = AuditMemory(predictor);
  ASSERT_TRUE(audit.ok()) << audit.status().message();
  EXPECT_EQ(audit->checked, 400);
  EXPECT_EQ(audit->all_suspects, static_cast<int64_t>(audit->suspects.size()));
  int64_t found = 0;
  for (size_t i = 0; i < audit->suspects.size(); ++i) {
    const SuspectRow& suspect = audit->suspects[i];
    EXPECT_GT(suspect.disagreement, 0.5f);
    if (i > 0) {
      EXPECT_LE(suspect.score(), audit->suspects[i - 1].score());
    }
    if (!planted.contains(suspect.row)) continue;
    ++found;
    EXPECT_EQ(suspect.suggested, truth[static_cast<size_t>(suspect.row)]);
  }
  EXPECT_GE(found, 18);                           // of 20
  EXPECT_LE(audit->suspects.size(), size_t{30});  // where classes overlap, some are right
  // With few rows asked, those of the largest residual are.
  const Result<Audit> part = AuditMemory(predictor, {.most = 100, .listed = 3});
  ASSERT_TRUE(part.ok());
  EXPECT_EQ(part->suspected, 100);
  ASSERT_EQ(part->suspects.size(), 3u);
  EXPECT_EQ(part->suspects[0].row, audit->suspects[0].row);
  EXPECT_GT(part->all_suspects, 3);
}

TEST(AuditTest, TwinsAreFoundOnceEach) {
  const TemporaryFolder folder;
  Problem problem = MakeProblem(200, kAuditDim, kAuditClasses, 4);
  for (int64_t d = 0; d < kAuditDim; ++d) {
    problem.keys[static_cast<size_t>(30 * kAuditDim + d)] =
        problem.keys[static_cast<size_t>(9 * kAuditDim + d)];
  }
  Write(folder / "m", DescribeShape(kAuditDim, kAuditClasses, 5), problem.view());
  const ResidualMemory memory = Open(folder / "m");
  const Result<Audit> audit = AuditMemory(Predictor(memory));
  ASSERT_TRUE(audit.ok());
  ASSERT_EQ(audit->twins.size(), 1u);
  EXPECT_EQ(audit->twins[0].row, 9);
  EXPECT_EQ(audit->twins[0].other, 30);
  EXPECT_EQ(audit->twins[0].distance, 0);
}

// Against a memory that is made without the row.
TEST(AuditTest, HarmIsExactlyWhatLeavingTheRowOutChanges) {
  const TemporaryFolder folder;
  for (const bool regression : {false, true}) {
    MemoryDescription description = DescribeShape(3, 4, 5);
    if (regression) description.task = Task::kRegression;
    const RowData data = MakeRows(40, 3, 4, 1), held_out = MakeRows(30, 3, 4, 2);
    const std::string path = folder / (regression ? "r" : "c");
    Write(path, description, data.view(description));
    const ResidualMemory memory = Open(path);
    const Rows rows = held_out.view(description);
    const Predictor predictor(memory);
    const Result<HarmReport> report = MeasureHarm(predictor, ReadRows(rows, 7));
    ASSERT_TRUE(report.ok()) << report.status().message();
    EXPECT_EQ(report->rows, 30);
    const double loss = MeanLoss(predictor, rows);
    EXPECT_NEAR(report->loss, loss / 30, 1e-6);
    ASSERT_GE(report->harmful.size(), 10u);
    for (const size_t i : {size_t{0}, size_t{1}, report->harmful.size() - 1}) {
      const RowEffect& effect = report->harmful[i];
      const std::string without = path + std::to_string(i);
      Write(without, description, data.Without({effect.row}).view(description));
      const ResidualMemory smaller = Open(without);
      EXPECT_NEAR(effect.harm, loss - MeanLoss(Predictor(smaller), rows), 1e-4) << i;
      EXPECT_GT(effect.harm, 0);
      EXPECT_GT(effect.answers, 0);
    }
    EXPECT_GE(report->harmful[0].harm, report->harmful[1].harm);
  }
}

TEST(AuditTest, RowsThatDoNotFitAreRefused) {
  const TemporaryFolder folder;
  const Problem problem = MakeProblem(50, kAuditDim, kAuditClasses, 5);
  Write(folder / "m", DescribeShape(kAuditDim, kAuditClasses, 5), problem.view());
  const ResidualMemory memory = Open(folder / "m");
  const Predictor predictor(memory);
  Rows unlabeled = problem.view();
  unlabeled.labels = {};
  EXPECT_EQ(MeasureHarm(predictor, ReadRows(unlabeled)).status().code(), ErrorCode::kBadData);
  const Problem wide = MakeProblem(50, kAuditDim + 1, kAuditClasses, 5);
  EXPECT_EQ(MeasureHarm(predictor, ReadRows(wide.view())).status().code(), ErrorCode::kBadData);
}

}  // namespace
}  // namespace resmem
