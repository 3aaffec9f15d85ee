#include "search/first_pass/codes/key_codes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kernels/every_simd_level.h"
#include "kernels/squared_distance.h"
#include "search/first_pass/codes/code_scan.h"
#include "search/search_test_data.h"

namespace resmem {
namespace {

constexpr int64_t kDim = 48;

struct Coded {
  StoredKeys stored;
  KeyStore keys;
  KeyGeometry geometry;

  Coded(const std::vector<float>& values, KeyType type, std::vector<int64_t> hidden = {})
      : stored(values, kDim, type),
        keys(*KeyStore::Make(kDim,
                             {stored.part(0, 100, kDim), stored.part(100, 0, kDim),
                              stored.part(100, stored.rows - 100, kDim)},
                             std::move(hidden))),
        geometry(*KeyGeometry::Compute(keys)) {}
};

TEST(KeyCodes, EachKeyIsWithinItsErrorOfItsCode) {
  Random random(1);
  const std::vector<float> values = NormalFloats(300 * kDim, 3, 1, &random);
  for (const KeyType type : {KeyType::kFloat32, KeyType::kFloat16, KeyType::kInt8}) {
    const Coded data(values, type);
    AtEverySimdLevel([&] {
      const KeyCodes codes = KeyCodes::Make(data.keys, data.geometry);
      std::vector<float> scratch(kDim);
      for (int64_t row = 0; row < 300; ++row) {
        const CodedRows coded = codes.Rows(row, 1).coded;
        const float* key = data.keys.Rows(row, 1, scratch.data());
        double error = 0, norm = 0;
        for (int64_t i = 0; i < kDim; ++i) {
          const double value = static_cast<double>(coded.scales[0]) * coded.codes[i];
          const double off = static_cast<double>(key[i]) - codes.origin()[i] - value;
          error += off * off;
          norm += value * value;
        }
        EXPECT_LE(std::sqrt(error), coded.errors[0]);
        EXPECT_LE(coded.errors[0], std::sqrt(norm) / 100);
        EXPECT_LE(coded.norms[0], norm);
        EXPECT_GE(coded.norms[0], norm * (1 - 2e-6));
      }
    });
  }
}

TEST(KeyCodes, Int8KeysAreTheirOwnCodes) {
  Random random(2);
  const Coded data(NormalFloats(300 * kDim, 3, 1, &random), KeyType::kInt8);
  const KeyCodes codes = KeyCodes::Make(data.keys, data.geometry);
  const KeyCodes::Piece first = codes.Rows(90, 50), second = codes.Rows(100, 50);
  EXPECT_EQ(first.coded.codes, data.stored.codes.data() + 90 * kDim);
  EXPECT_EQ(first.rows, 10);  // the block ends
  EXPECT_EQ(second.coded.codes, data.stored.codes.data() + 100 * kDim);
  EXPECT_EQ(second.rows, 50);
}

TEST(KeyCodes, DoNotApplyToGiantOrFewOrNarrowOrMixedKeys) {
  Random random(3);
  std::vector<float> values = NormalFloats(300 * kDim, 0, 1, &random);
  const Coded sound(values, KeyType::kFloat32);
  EXPECT_TRUE(KeyCodes::Apply(sound.keys, sound.geometry));
  const auto apply = [&](int64_t dim, std::vector<KeyBlock> blocks) {
    const KeyStore keys = *KeyStore::Make(dim, std::move(blocks), {});
    return KeyCodes::Apply(keys, *KeyGeometry::Compute(keys));
  };
  EXPECT_FALSE(apply(kDim, {sound.stored.part(0, 150, kDim)}));
  EXPECT_FALSE(apply(16, {{KeyType::kFloat32, values.data(), nullptr, 900}}));
  const StoredKeys bytes(values, kDim, KeyType::kInt8);
  EXPECT_FALSE(apply(kDim, {sound.stored.block(), bytes.block()}));
  EXPECT_TRUE(apply(kDim, {bytes.block(), bytes.block()}));
  values[80] = 1e16f;
  const Coded giant(values, KeyType::kFloat32);
  EXPECT_FALSE(KeyCodes::Apply(giant.keys, giant.geometry));
}

TEST(CodeScan, LeavesFewRowsToMeasureOnOrdinaryData) {
  for (const KeyType type : {KeyType::kFloat32, KeyType::kFloat16, KeyType::kInt8}) {
    for (const double mean : {0.0, 2.0}) {
      Random random(4);
      const Coded data(NormalFloats(3000 * kDim, mean, 1, &random), type);
      const std::vector<float> queries = NormalFloats(10 * kDim, mean, 1, &random);
      std::vector<Question> questions;
      for (int64_t q = 0; q < 10; ++q) questions.push_back({queries.data() + q * kDim, -1, q});
      AtEverySimdLevel([&] {
        const KeyCodes codes = KeyCodes::Make(data.keys, data.geometry);
        std::vector<CandidateList> lists;
        FindCandidatesByCodes(data.keys, codes, questions, 20, 2, &lists);
        for (CandidateList& list : lists) {
          ASSERT_TRUE(list.Decide(1e38f));
          EXPECT_GE(list.rows().size(), 20u);
          EXPECT_LE(list.rows().size(), 60u);
        }
      });
    }
  }
}

TEST(CodeScan, HiddenAndExcludedRowsAreNoCandidates) {
  Random random(5);
  const Coded data(NormalFloats(300 * kDim, 0, 1, &random), KeyType::kFloat32, {7, 8});
  const KeyCodes codes = KeyCodes::Make(data.keys, data.geometry);
  const float* key = data.stored.floats.data();
  const Question questions[] = {{key + 7 * kDim, -1, 0}, {key + 9 * kDim, 9, 1}, {key, -1, 2}};
  std::vector<CandidateList> lists;
  FindCandidatesByCodes(data.keys, codes, questions, 1, 1, &lists);
  for (size_t q = 0; q < 3; ++q) {
    ASSERT_TRUE(lists[q].Decide(1e38f));
    for (const int64_t row : lists[q].rows()) EXPECT_FALSE(row == 7 || row == 8) << q;
    EXPECT_EQ(std::ranges::count(lists[q].rows(), int64_t{9}), 0) << q;
  }
  EXPECT_EQ(lists[2].rows().size(), 1u);  // itself
}

TEST(CodeScan, QueryTooFarAwayForTheBoundIsGivenUpAndTheOthersAreNot) {
  Random random(6);
  const Coded data(NormalFloats(300 * kDim, 0, 1, &random), KeyType::kFloat32);
  const KeyCodes codes = KeyCodes::Make(data.keys, data.geometry);
  const std::vector<float> far(kDim, 1e16f);
  const Question questions[] = {{far.data(), -1, 0}, {data.stored.floats.data(), -1, 1}};
  std::vector<CandidateList> lists;
  FindCandidatesByCodes(data.keys, codes, questions, 3, 2, &lists);
  EXPECT_FALSE(lists[0].Decide(1e38f));
  EXPECT_TRUE(lists[1].Decide(1e38f));
}

}  // namespace
}  // namespace resmem
