#include "resmem/head_check.h"

#include <gtest/gtest.h>

#include <vector>

#include "fixtures/small_memory.h"

namespace resmem {
namespace {

using namespace fixtures;

// Replaces the logits by an affine function of the key, drawn from `seed`.
Problem WithHead(Problem problem, uint64_t seed) {
  Random random(seed);
  std::vector<double> weights(static_cast<size_t>(problem.dim * problem.classes));
  for (double& weight : weights) weight = random.Normal();
  for (int64_t row = 0; row < problem.rows; ++row) {
    for (int64_t c = 0; c < problem.classes; ++c) {
      double logit = static_cast<double>(c);
      for (int64_t d = 0; d < problem.dim; ++d) {
        logit += weights[static_cast<size_t>(c * problem.dim + d)] *
                 problem.keys[static_cast<size_t>(row * problem.dim + d)];
      }
      problem.logits[static_cast<size_t>(row * problem.classes + c)] = static_cast<float>(logit);
    }
  }
  return problem;
}

HeadCheck Check(const ResidualMemory& memory, const Problem& queries) {
  return CheckHead(memory, queries.view().keys, queries.view().logits);
}

TEST(HeadCheck, FindsAnotherModelInEveryKeyType) {
  const TemporaryFolder folder;
  const Problem train = WithHead(MakeProblem(500, 16, 10, 1), 7);
  for (KeyType type : {KeyType::kFloat32, KeyType::kFloat16, KeyType::kInt8}) {
    MemoryDescription description = Describe(train, {});
    description.key_type = type;
    Write(folder / KeyTypeName(type), description, train.view());
    const ResidualMemory memory = Open(folder / KeyTypeName(type));
    const Problem queries = MakeProblem(40, 16, 10, 2);
    const HeadCheck same = Check(memory, WithHead(queries, 7));
    EXPECT_TRUE(same.applicable);
    EXPECT_FALSE(same.another_model());
    EXPECT_LT(same.query_error, 0.05);
    EXPECT_TRUE(Check(memory, WithHead(queries, 8)).another_model());
    EXPECT_TRUE(Check(memory, WithHead(MakeProblem(1, 16, 10, 3), 8)).another_model());
    EXPECT_FALSE(Check(memory, WithHead(MakeProblem(1, 16, 10, 3), 7)).another_model());
  }
}

TEST(HeadCheck, IsMadeOfKeysAsTheyWereGiven) {
  const TemporaryFolder folder;
  const Problem train = WithHead(MakeProblem(500, 16, 10, 1), 7);
  const Problem queries = MakeProblem(40, 16, 10, 2);
  for (const KeyTransform transform : {KeyTransform::kUnit, KeyTransform::kWhiten}) {
    MemoryDescription description = Describe(train, {});
    description.key_transform = transform;
    Write(folder / KeyTransformName(transform), description, train.view());
    const ResidualMemory memory = Open(folder / KeyTransformName(transform));
    EXPECT_LT(Check(memory, WithHead(queries, 7)).query_error, 1e-3);
    EXPECT_TRUE(Check(memory, WithHead(queries, 8)).another_model());
  }
}

TEST(HeadCheck, FindsRowsInAnotherOrder) {
  const TemporaryFolder folder;
  const Problem train = WithHead(MakeProblem(500, 8, 10, 1), 7);
  Write(folder / "m", Describe(train, {}), train.view());
  const ResidualMemory memory = Open(folder / "m");
  Problem queries = WithHead(MakeProblem(100, 8, 10, 2), 7);
  std::rotate(queries.logits.begin(), queries.logits.begin() + 10, queries.logits.end());
  EXPECT_TRUE(Check(memory, queries).another_model());
}

TEST(HeadCheck, SaysNothingWhereTheKeyIsNotTheLayerBeforeTheLogits) {
  const TemporaryFolder folder;
  const Problem train = MakeProblem(500, 8, 10, 1);  // noisy logits
  Write(folder / "m", Describe(train, {}), train.view());
  EXPECT_FALSE(Check(Open(folder / "m"), MakeProblem(40, 8, 10, 2)).applicable);
}

TEST(HeadCheck, SaysNothingOfAMemoryTooSmallToShowAHead) {
  const TemporaryFolder folder;
  const Problem train = WithHead(MakeProblem(30, 16, 10, 1), 7);
  Write(folder / "m", Describe(train, {}), train.view());
  EXPECT_FALSE(Check(Open(folder / "m"), WithHead(MakeProblem(40, 16, 10, 2), 8)).applicable);
}

}  // namespace
}  // namespace resmem
