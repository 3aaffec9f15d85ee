#include "resmem/shard/shard_steps.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <vector>

#include "fixtures/small_memory.h"
#include "resmem/data/array_writer.h"

namespace resmem {
namespace {

using namespace fixtures;

constexpr Parameters kParameters = {9, 0.9f, 1.3f};

class ShardStepsTest : public testing::Test {
 protected:
  void SetUp() override {
    // Rounded, so that many distances are equal.
    for (Problem* problem : {&train_, &test_}) {
      for (float& value : problem->keys) value = std::round(value);
    }
    WriteArrays("train.npz", train_);
    WriteArrays("test.npz", test_);
    Write(folder_ / "one.resmem", Describe(train_, kParameters), train_.view());
  }

  void WriteArrays(const std::string& name, const Problem& problem) {
    auto writer = ArrayWriter::Create(
        folder_ / name, {{{"keys", ElementType::kFloat32, {problem.rows, problem.dim}}},
                         {{"logits", ElementType::kFloat32, {problem.rows, problem.classes}}},
                         {{"labels", ElementType::kInt32, {problem.rows}}}});
    ASSERT_TRUE(writer.ok()) << writer.status().message();
    ASSERT_TRUE(writer->Write(0, problem.keys).ok());
    ASSERT_TRUE(writer->Write(1, problem.logits).ok());
    ASSERT_TRUE(writer->Write(2, problem.labels).ok());
    ASSERT_TRUE(writer->Close().ok());
  }

  ShardPlan Asked() const {
    ShardPlan plan;
    plan.rows.path = folder_ / "train.npz";
    plan.queries = ShardFile{folder_ / "test.npz", ""};
    plan.parameters = kParameters;
    return plan;
  }

  ShardFolder Planned(const std::string& name, int64_t shards, const ShardPlan& asked) {
    Result<ShardPlan> plan = PlanShards(asked, shards);
    EXPECT_TRUE(plan.ok()) << plan.status().message();
    Result<ShardFolder> folder = ShardFolder::Create(folder_ / name, *plan);
    EXPECT_TRUE(folder.ok()) << folder.status().message();
    return *folder;
  }

  static void Finish(const ShardFolder& folder) {
    for (int64_t shard = folder.shards(); shard >= 1; --shard) {
      for (const auto step : {MemorizeShard, IndexShard, SearchShard}) {
        const auto done = step(folder, shard, {});
        ASSERT_TRUE(done.ok()) << done.status().message();
      }
    }
    const auto merged = MergeShards(folder);
    ASSERT_TRUE(merged.ok()) << merged.status().message();
  }

  static Neighbors MergedOf(const ShardFolder& folder) {
    const auto merged = MergedNeighbors::Open(folder);
    EXPECT_TRUE(merged.ok()) << merged.status().message();
    Neighbors found;
    EXPECT_TRUE(merged->Read(0, merged->queries(), folder.plan().neighbors(), &found).ok());
    return found;
  }

  Neighbors OneMemory() {
    const ResidualMemory memory = Open(folder_ / "one.resmem");
    SearchOptions options;
    options.k = kParameters.k;
    Neighbors found;
    EXPECT_TRUE(memory.exact_index().Search(test_.view().keys, options, &found).ok());
    return found;
  }

  TemporaryFolder folder_;
  Problem train_ = MakeProblem(400, 5, 6, 1);
  Problem test_ = MakeProblem(150, 5, 6, 2);
};

TEST_F(ShardStepsTest, AnyNumberOfShardsAnswersAsOneMemory) {
  const Neighbors expected = OneMemory();
  const ResidualMemory one = Open(folder_ / "one.resmem");
  const auto judged = Evaluate(Predictor(one), ReadRows(test_.view()));
  ASSERT_TRUE(judged.ok());
  for (const int64_t shards : {1, 2, 3, 7, 60}) {
    SCOPED_TRACE(shards);
    const ShardFolder folder = Planned("work" + std::to_string(shards), shards, Asked());
    Finish(folder);
    const Neighbors merged = MergedOf(folder);
    EXPECT_EQ(merged.rows, expected.rows);
    EXPECT_EQ(merged.distances, expected.distances);
    const auto memory = OpenShards(folder);
    ASSERT_TRUE(memory.ok()) << memory.status().message();
    EXPECT_EQ(memory->id(399), 399u);
    const auto neighbors = MergedNeighbors::Open(folder);
    const auto evaluation = EvaluateShards(folder, *memory, *neighbors, {});
    ASSERT_TRUE(evaluation.ok()) << evaluation.status().message();
    EXPECT_EQ(evaluation->gain.fixed, judged->gain.fixed);
    EXPECT_EQ(evaluation->gain.harmed, judged->gain.harmed);
    EXPECT_EQ(evaluation->resmem_calibration.nll, judged->resmem_calibration.nll);
    EXPECT_EQ(evaluation->mean_residual_mass, judged->mean_residual_mass);
  }
}

TEST_F(ShardStepsTest, WhatIsDoneIsNotDoneAgain) {
  const ShardFolder folder = Planned("work", 2, Asked());
  Finish(folder);
  const auto times = [&] {
    std::vector<std::filesystem::file_time_type> all;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
      all.push_back(entry.last_write_time());
    }
    return all;
  };
  const auto before = times();
  for (const auto step : {MemorizeShard, IndexShard, SearchShard}) {
    const auto done = step(folder, 1, {});
    ASSERT_TRUE(done.ok()) << done.status().message();
    EXPECT_TRUE(done->before);
  }
  EXPECT_TRUE(MergeShards(folder)->before);
  EXPECT_EQ(Planned("work", 2, Asked()).digest(), folder.digest());
  EXPECT_EQ(times(), before);
  // A broken answer is made again, and so is a merge of another one.
  std::filesystem::resize_file(folder.answers_path(2), 100);
  EXPECT_EQ(MergeShards(folder).status().code(), ErrorCode::kCorrupt);
  EXPECT_FALSE(SearchShard(folder, 2)->before);
  EXPECT_TRUE(MergeShards(folder)->before);
}

TEST_F(ShardStepsTest, StepsWantTheStepBefore) {
  const ShardFolder folder = Planned("work", 2, Asked());
  EXPECT_EQ(IndexShard(folder, 1).status().code(), ErrorCode::kNotFound);
  EXPECT_EQ(SearchShard(folder, 1).status().code(), ErrorCode::kNotFound);
  EXPECT_EQ(MergeShards(folder).status().code(), ErrorCode::kNotFound);
  EXPECT_EQ(MergedNeighbors::Open(folder).status().code(), ErrorCode::kNotFound);
  EXPECT_EQ(OpenShards(folder).status().code(), ErrorCode::kNotFound);
  EXPECT_EQ(MemorizeShard(folder, 0).status().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(MemorizeShard(folder, 3).status().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(ShardFolder::Open(folder_ / "none").status().code(), ErrorCode::kNotFound);
}

TEST_F(ShardStepsTest, ShardsOfDifferentInputsNeverMix) {
  const ShardFolder folder = Planned("work", 2, Asked());
  Finish(folder);
  // Another plan in the same folder.
  ShardPlan other = Asked();
  other.parameters.sigma = 2;
  EXPECT_EQ(ShardFolder::Create(folder.path(), *PlanShards(other, 2)).status().code(),
            ErrorCode::kInvalidArgument);
  // Its shard, and its answers, in the place of ours.
  const ShardFolder elsewhere = Planned("elsewhere", 2, other);
  Finish(elsewhere);
  const auto swap = [](const std::string& from, const std::string& to) {
    std::filesystem::remove_all(to);
    std::filesystem::copy(from, to, std::filesystem::copy_options::recursive);
  };
  swap(elsewhere.answers_path(1), folder.answers_path(1));
  EXPECT_EQ(MergeShards(folder).status().code(), ErrorCode::kMismatch);
  EXPECT_FALSE(SearchShard(folder, 1)->before);
  EXPECT_TRUE(MergeShards(folder)->before);
  swap(elsewhere.memory_path(2), folder.memory_path(2));
  EXPECT_EQ(MemorizeShard(folder, 2).status().code(), ErrorCode::kMismatch);
  EXPECT_EQ(SearchShard(folder, 2).status().code(), ErrorCode::kMismatch);
  EXPECT_EQ(OpenShards(folder).status().code(), ErrorCode::kMismatch);
  // A shard with other rows than were searched.
  const ShardFolder changed = Planned("changed", 2, Asked());
  Finish(changed);
  const std::vector<uint64_t> first = {0};
  ASSERT_TRUE(DeleteRows(changed.memory_path(1), first).ok());
  EXPECT_EQ(SearchShard(changed, 1).status().code(), ErrorCode::kMismatch);
  EXPECT_EQ(MergedNeighbors::Open(changed).status().code(), ErrorCode::kMismatch);
  // An input that has changed.
  train_.keys[0] += 1;
  WriteArrays("train.npz", train_);
  std::filesystem::remove_all(elsewhere.memory_path(1));
  EXPECT_EQ(MemorizeShard(elsewhere, 1).status().code(), ErrorCode::kMismatch);
  test_.keys[0] += 1;
  WriteArrays("test.npz", test_);
  std::filesystem::remove_all(folder.answers_path(1));
  EXPECT_EQ(SearchShard(elsewhere, 2).status().code(), ErrorCode::kMismatch);
}

TEST_F(ShardStepsTest, AFolderOfArraysIsKnownByAllItsFiles) {
  WriteArrays("train", train_);
  ShardPlan asked = Asked();
  asked.rows.path = folder_ / "train/";
  const ShardFolder folder = Planned("work", 3, asked);
  Finish(folder);
  EXPECT_EQ(MergedOf(folder).rows, OneMemory().rows);
  std::filesystem::remove_all(folder.memory_path(1));
  std::filesystem::copy_file(folder_ / "train/labels.npy", folder_ / "train/ids.npy");
  EXPECT_EQ(MemorizeShard(folder, 1).status().code(), ErrorCode::kMismatch);
  std::filesystem::remove(folder_ / "train/ids.npy");
  EXPECT_TRUE(MemorizeShard(folder, 1).ok());
}

TEST_F(ShardStepsTest, RefusesPlansThatCannotBe) {
  const auto with = [&](int64_t shards, auto change) {
    ShardPlan plan = Asked();
    change(plan);
    return PlanShards(plan, shards).status().code();
  };
  EXPECT_EQ(with(400, [](auto&) {}), ErrorCode::kOk);
  EXPECT_EQ(with(401, [](auto&) {}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(with(0, [](auto&) {}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(with(2, [](auto& p) { p.key_transform = KeyTransform::kWhiten; }),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(with(2, [](auto& p) { p.parameters.k = 0; }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(with(2, [](auto& p) { p.recall = 1.0; }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(with(2, [&](auto& p) { p.rows.path = folder_ / "none.npz"; }), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace resmem
