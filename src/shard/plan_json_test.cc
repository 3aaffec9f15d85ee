#include "shard/plan_json.h"

#include <gtest/gtest.h>

#include "support/random.h"

namespace resmem {
namespace {

const std::string kDigest = "0123456789abcdef0123456789abcdef";

ShardPlan TokenPlan() {
  ShardPlan plan;
  plan.tokens = true;
  plan.rows = {"/data/train.tokens", kDigest};
  plan.model = {"/data/last.onnx", kDigest};
  plan.queries = ShardFile{"/data/test.tokens", kDigest};
  plan.form = ResidualForm::kSparse;
  plan.half_residuals = true;
  plan.key_type = KeyType::kInt8;
  plan.parameters = {50, 0.3f, 1.1f};
  plan.windows = {128, 96};
  plan.engine = TokenEngine::kNative;
  plan.recall = 0.95;
  plan.seed = 18446744073709551615u;
  plan.shards = {{0, 100, 0, 3}, {100, 150, 3, 4}};
  return plan;
}

std::string Replaced(const std::string& from, const std::string& to) {
  std::string text = PlanText(TokenPlan());
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(PlanJson, GivesBackThePlan) {
  const auto plan = ParsePlan(PlanText(TokenPlan()));
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_EQ(PlanText(*plan), PlanText(TokenPlan()));
  EXPECT_EQ(plan->parameters, TokenPlan().parameters);
  EXPECT_EQ(plan->shards[1].first_document, 3);
  EXPECT_EQ(plan->total_rows(), 150);
  EXPECT_FALSE(plan->held_out.has_value());
}

TEST(PlanJson, RefusesWhatIsNoPlan) {
  EXPECT_EQ(ParsePlan(Replaced("\"resmem_shards\": 1", "\"resmem_shards\": 2")).status().code(),
            ErrorCode::kTooNew);
  const std::pair<const char*, const char*> changes[] = {
      {"\"resmem_shards\"", "\"other\""},
      {kDigest.c_str(), "0123"},
      {kDigest.c_str(), "0123456789abcdef0123456789abcdeg"},
      {"\"/data/train.tokens\"", "\"\""},
      {"\"/data/train.tokens\"", "7"},
      {"\"int8\"", "\"int4\""},
      {"\"key_transform\": \"none\"", "\"key_transform\": \"whiten\""},
      {"\"k\": 50", "\"k\": 0"},
      {"\"k\": 50", "\"k\": -1"},
      {"\"top\": 128", "\"top\": 0"},
      {"\"sigma\": 0.3", "\"sigma\": 0, \"was\": 0.3"},
      {"\"recall\": 0.95", "\"recall\": 1.5"},
      {"\"recall\": 0.95", "\"recall\": \"most\""},
      {"128 every 96", "96 every 128"},
      {"\"engine\": \"native\"", "\"engine\": \"auto\""},
      {"\"shards\": [", "\"shards\": [7, "},
  };
  for (const auto& [from, to] : changes) {
    EXPECT_EQ(ParsePlan(Replaced(from, to)).status().code(), ErrorCode::kCorrupt) << from << to;
  }
}

TEST(PlanJson, ShardsFollowEachOther) {
  const auto with = [](std::vector<ShardRange> shards) {
    ShardPlan plan = TokenPlan();
    plan.shards = std::move(shards);
    return ParsePlan(PlanText(plan)).status().code();
  };
  EXPECT_EQ(with({{0, 100, 0, 3}}), ErrorCode::kOk);
  EXPECT_EQ(with({}), ErrorCode::kCorrupt);
  EXPECT_EQ(with({{1, 100, 0, 3}}), ErrorCode::kCorrupt);
  EXPECT_EQ(with({{0, 100, 1, 3}}), ErrorCode::kCorrupt);
  EXPECT_EQ(with({{0, 0, 0, 3}}), ErrorCode::kCorrupt);
  EXPECT_EQ(with({{0, 100, 0, 3}, {90, 150, 3, 4}}), ErrorCode::kCorrupt);
  EXPECT_EQ(with({{0, 100, 0, 3}, {110, 150, 3, 4}}), ErrorCode::kCorrupt);
  EXPECT_EQ(with({{0, 100, 0, 3}, {100, 150, 4, 5}}), ErrorCode::kCorrupt);
  EXPECT_EQ(with({{0, 100, 0, 3}, {100, INT64_MAX, 3, 4}}), ErrorCode::kCorrupt);
}

// No text makes it crash, and what it takes it can write again.
TEST(PlanJson, SurvivesChangedBytes) {
  const std::string text = PlanText(TokenPlan());
  Random random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string changed = text;
    for (uint64_t n = 0; n <= random.Below(3); ++n) {
      const size_t at = random.Below(changed.size());
      if (random.Below(2) == 0) {
        changed[at] = static_cast<char>(random.Below(256));
      } else {
        changed.erase(at, random.Below(20));
      }
    }
    const auto plan = ParsePlan(changed);
    if (!plan.ok()) continue;
    EXPECT_GE(plan->shards.size(), 1u);
    EXPECT_GE(plan->neighbors(), 1);
  }
}

}  // namespace
}  // namespace resmem
