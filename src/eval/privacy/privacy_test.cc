#include "resmem/privacy.h"

#include <gtest/gtest.h>

#include "eval/privacy/advice.h"
#include "fixtures/small_memory.h"

namespace resmem {
namespace {

using fixtures::DescribeShape;
using fixtures::MakeProblem;
using fixtures::Open;
using fixtures::Problem;
using fixtures::TemporaryFolder;
using fixtures::Write;

constexpr int64_t kPrivacyDim = 8, kPrivacyClasses = 4;

// Every third label is wrong: what nobody can know who has not seen the row.
Problem MakeNoisy(int64_t rows, uint64_t seed) {
  Problem problem = MakeProblem(rows, kPrivacyDim, kPrivacyClasses, seed);
  for (size_t row = 0; row < problem.labels.size(); row += 3) {
    problem.labels[row] = (problem.labels[row] + 1) % int32_t{kPrivacyClasses};
  }
  return problem;
}

class PrivacyTest : public testing::Test {
 protected:
  // Members and held-out rows of the same world.
  const Problem members_ = MakeNoisy(300, 3);
  const Problem held_out_ = MakeNoisy(250, 4);
  const TemporaryFolder folder_;

  ResidualMemory Make(int64_t k, float sigma = 0.7f) const {
    MemoryDescription description = DescribeShape(kPrivacyDim, kPrivacyClasses, k);
    description.parameters.sigma = sigma;
    const std::string path = folder_ / ("m" + std::to_string(k) + "_" + std::to_string(sigma));
    Write(path, description, members_.view());
    return Open(path);
  }
  PrivacyReport Measure(const ResidualMemory& memory, const PrivacyOptions& options = {}) const {
    const Result<PrivacyReport> report =
        MeasurePrivacy(Predictor(memory), ReadRows(held_out_.view(), 64), options);
    EXPECT_TRUE(report.ok()) << report.status().message();
    return report.ok() ? *report : PrivacyReport();
  }
};

TEST_F(PrivacyTest, WhatTheMemoryAddsIsToldApartFromTheBase) {
  const PrivacyReport report = Measure(Make(1));
  EXPECT_EQ(report.members, 300);
  EXPECT_EQ(report.held_out, 250);
  // The base has not seen these rows.
  const MembershipTest& base = *FindTest(report, Method::kBase, Clue::kLoss);
  EXPECT_NEAR(base.inside.auc, 0.5, 0.1);
  EXPECT_EQ(base.inside.auc, base.left_out.auc);
  EXPECT_EQ(base.more, 0);
  // With k = 1 a member's answer is its own label, a held-out row's another's.
  const MembershipTest& gain = *FindTest(report, Method::kResMem, Clue::kGain);
  EXPECT_GT(gain.inside.auc, 0.6);
  EXPECT_GT(gain.more_interval.low, 0);
  EXPECT_NEAR(gain.left_out.auc, 0.5, 0.1);
  const MembershipTest& distance = *FindTest(report, Method::kResMem, Clue::kDistance);
  EXPECT_EQ(distance.inside.auc, 1);
  EXPECT_EQ(distance.inside.tpr_at_0_1_percent, 1);
  EXPECT_NEAR(distance.left_out.auc, 0.5, 0.1);
}

TEST_F(PrivacyTest, MoreNeighborsGiveLessAway) {
  const PrivacyReport few = Measure(Make(2, 0.1f)), many = Measure(Make(100, 5.0f));
  EXPECT_GT(FindTest(few, Method::kResMem, Clue::kGain)->inside.auc,
            FindTest(many, Method::kResMem, Clue::kGain)->inside.auc + 0.1);
  EXPECT_GT(few.sweep[0].own_weight, 0.9);
  EXPECT_LT(many.sweep[0].own_weight, 0.1);
  // The same figure whether asked for as the memory's answer or as a point of the sweep.
  EXPECT_EQ(few.sweep[0].gain.auc, FindTest(few, Method::kResMem, Clue::kGain)->inside.auc);
  EXPECT_EQ(few.sweep[0].accuracy, few.accuracy);
}

TEST_F(PrivacyTest, LabelsAreRecoveredWithOneNeighborAndNotWhereTheRowIsLeftOut) {
  const PrivacyReport report = Measure(Make(1));
  const LabelRecovery& resmem = report.labels.back();
  EXPECT_EQ(resmem.method, Method::kResMem);
  EXPECT_EQ(resmem.members, 300);
  EXPECT_EQ(resmem.recovered, 300);  // exact memorization
  EXPECT_EQ(resmem.base_wrong_recovered, resmem.base_wrong);
  EXPECT_LT(resmem.recovered_left_out, 300);
  EXPECT_GT(resmem.base_wrong, 30);
  EXPECT_EQ(report.labels.front().base_wrong_recovered, 0);
  EXPECT_EQ(report.near[0].nearest, 300);
  EXPECT_EQ(report.near[0].recovered, resmem.base_wrong);
  EXPECT_LT(report.near.back().nearest, 300);
}

TEST_F(PrivacyTest, KeysAreComputedFromDistancesOfAListAndNotFromOne) {
  const PrivacyReport report = Measure(Make(20));
  EXPECT_EQ(report.keys.tried, 10);
  EXPECT_EQ(report.keys.recovered, 10);
  EXPECT_LT(report.keys.median_error, 1e-4);
  EXPECT_GE(report.keys.queries, 10 * kPrivacyDim);
  // The advice says so.
  bool told = false;
  for (const std::string& sentence : report.advice) {
    told |= sentence.find("10 of 10 computed") != std::string::npos;
  }
  EXPECT_TRUE(told);
}

TEST_F(PrivacyTest, TheSameSeedGivesTheSameReportAndFewMembersAreASample) {
  const ResidualMemory memory = Make(10);
  const PrivacyReport all = Measure(memory);
  const PrivacyReport some =
      Measure(memory, {.most = 100, .most_near = 30, .most_keys = 0, .seed = 5});
  const PrivacyReport again =
      Measure(memory, {.most = 100, .most_near = 30, .most_keys = 0, .seed = 5, .threads = 2});
  EXPECT_EQ(some.members, 100);
  EXPECT_EQ(some.near[0].members, 30);
  EXPECT_EQ(some.keys.tried, 0);
  for (size_t i = 0; i < some.membership.size(); ++i) {
    EXPECT_EQ(some.membership[i].inside.auc, again.membership[i].inside.auc);
  }
  EXPECT_EQ(some.near[4].recovered, again.near[4].recovered);
  EXPECT_NEAR(FindTest(some, Method::kResMem, Clue::kLoss)->inside.auc,
              FindTest(all, Method::kResMem, Clue::kLoss)->inside.auc, 0.1);
}

TEST_F(PrivacyTest, HeldOutRowsThatAreTheMemorysAreNoticed) {
  const ResidualMemory memory = Make(10);
  const Result<PrivacyReport> report =
      MeasurePrivacy(Predictor(memory), ReadRows(members_.view()), {});
  ASSERT_TRUE(report.ok());
  ASSERT_FALSE(report->warnings.empty());
  EXPECT_NE(report->warnings[0].find("300 of 300 held-out rows have a key that is in the memory"),
            std::string::npos)
      << report->warnings[0];
}

TEST_F(PrivacyTest, WhatCannotBeMeasuredIsRefused) {
  const ResidualMemory memory = Make(10);
  const auto code = [&](const Rows& rows, const PrivacyOptions& options = {}) {
    return MeasurePrivacy(Predictor(memory), ReadRows(rows), options).status().code();
  };
  EXPECT_EQ(code(held_out_.view().Slice(0, 19)), ErrorCode::kBadData);
  EXPECT_EQ(code(held_out_.view().Slice(0, 20)), ErrorCode::kOk);
  EXPECT_EQ(code(held_out_.view(), {.most = 0}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(held_out_.view(), {.most = 19}), ErrorCode::kBadData);
  Rows unlabeled = held_out_.view();
  unlabeled.labels = {};
  EXPECT_EQ(code(unlabeled), ErrorCode::kBadData);
  ASSERT_TRUE(CompactMemory(folder_ / "m10_0.700000", {.freeze = true}).ok());
  const ResidualMemory frozen = Open(folder_ / "m10_0.700000");
  const Status status = MeasurePrivacy(Predictor(frozen), ReadRows(held_out_.view()), {}).status();
  EXPECT_EQ(status.code(), ErrorCode::kUnsupported);
  EXPECT_NE(status.message().find("keeps no logits"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace resmem
