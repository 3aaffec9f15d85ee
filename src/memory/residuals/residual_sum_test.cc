#include "memory/residuals/residual_sum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "fixtures/every_memory.h"
#include "kernels/every_simd_level.h"
#include "memory/memory_parts.h"
#include "memory/residuals/row_sums.h"

namespace resmem {
namespace {

using fixtures::Open;
using fixtures::TemporaryFolder;
using fixtures::Write;

// So many outputs that a few sparse rows leave most alone, and many do not.
constexpr int64_t kKeyDim = 3, kSumOutputs = 1001, kSumRows = 90;

// Of two segments, some of whose rows are deleted.
std::string WriteMemory(const TemporaryFolder& folder, const MemoryDescription& description) {
  const std::string path = folder / NameOf(description);
  const RowData data = MakeRows(kSumRows, kKeyDim, kSumOutputs);
  Write(path, description, data.Part(0, 50).view(description));
  auto writer = MemoryWriter::Append(path, kSumRows - 50);
  EXPECT_TRUE(writer.ok() && writer->Add(data.Part(50, kSumRows - 50).view(description)).ok() &&
              writer->Finish().ok());
  EXPECT_TRUE(DeleteRows(path, std::vector<uint64_t>{data.ids[0], data.ids[kSumRows - 1]}).ok());
  return path;
}

struct Question {
  explicit Question(int64_t k) {
    Random random(static_cast<uint64_t>(k));
    for (int64_t i = 0; i < k; ++i) {
      // The ends of both segments are among them, and some come twice.
      constexpr int64_t kEnds[] = {kSumRows - 2, 49, 50, 1};
      rows.push_back(i < 4 ? kEnds[i] : 1 + static_cast<int64_t>(random.Below(kSumRows - 2)));
      weights.push_back(static_cast<float>(random.Uniform()));
    }
    for (int64_t c = 0; c < kSumOutputs; ++c)
      scores.push_back(static_cast<float>(random.Uniform()));
  }
  std::vector<int64_t> rows;
  std::vector<float> weights, scores;
};

TEST(ResidualSum, GivesTheBitsOfOneRowAddedAfterTheOther) {
  const TemporaryFolder folder;
  for (const MemoryDescription& description : EveryDescription(kKeyDim, kSumOutputs)) {
    SCOPED_TRACE(NameOf(description));
    const ResidualMemory memory = Open(WriteMemory(folder, description));
    ASSERT_EQ(memory.segments(), 2);
    const float frozen = description.parameters.temperature, scale = 0.3f;
    // Residuals of logits are kept at the first of them, and computed each time at the others.
    const std::vector<float> temperatures = description.form == ResidualForm::kLogits
                                                ? std::vector<float>{frozen, 2 * frozen, 1.0f}
                                                : std::vector<float>{frozen};
    const auto check = [&](float temperature) {
      ResidualSum sum(memory);
      for (const int64_t k : {0, 1, 2, 3, 4, 5, 6, 9, 50, 63, 64, 65, 68, 130}) {
        const Question question(k);
        std::vector<float> expected = question.scores, total(kSumOutputs), scratch(kSumOutputs);
        for (size_t i = 0; i < question.rows.size(); ++i) {
          memory.AddResidual(question.rows[i], temperature, question.weights[i], scratch, total);
        }
        for (size_t c = 0; c < total.size(); ++c) expected[c] += total[c] * scale;
        // Wherever the scores lie.
        std::vector<float> found(kSumOutputs + 16);
        const auto scores = std::span(found).subspan(static_cast<size_t>(k) % 16, kSumOutputs);
        std::ranges::copy(question.scores, scores.begin());
        sum.AddTo(question.rows, question.weights, temperature, scale, scores);
        EXPECT_TRUE(std::ranges::equal(scores, expected)) << "k is " << k;
      }
    };
    AtEverySimdLevel([&] {
      for (const float temperature : temperatures) check(temperature);
      const ScopedScatter other(!UsesScatter());
      check(frozen);
    });
  }
}

// So many entries a row that vectors are full and rows are fetched a few at a time, at places of 16
// bits and of more; beside the plain sum of what Residual() says.
TEST(ResidualSum, AddsLongSparseRowsAsAPlainLoopDoes) {
  constexpr int64_t kRows = 12;
  const TemporaryFolder folder;
  for (const int64_t outputs : {65536, 65537}) {
    const RowData data = MakeRows(kRows, kKeyDim, outputs);
    for (const auto& [top, half] : {std::pair{40, false}, {40, true}, {300, false}, {300, true}}) {
      MemoryDescription description;
      description.dim = kKeyDim;
      description.outputs = outputs;
      description.form = ResidualForm::kSparse;
      description.top = top;
      description.half_residuals = half;
      const std::string name =
          NameOf(description) + std::to_string(top) + "_of_" + std::to_string(outputs);
      SCOPED_TRACE(name);
      const std::string path = folder / name;
      Write(path, description, data.view(description));
      const ResidualMemory memory = Open(path);
      std::vector<int64_t> rows;
      std::vector<float> weights, residual(static_cast<size_t>(outputs)), expected(residual.size());
      for (int64_t i = 0; i < 70; ++i) {  // so many that not all are fetched at once
        rows.push_back(i * 5 % kRows);
        weights.push_back(0.01f * static_cast<float>(i + 1));
        memory.Residual(rows.back(), description.parameters.temperature, residual);
        EXPECT_EQ(std::ranges::count_if(residual, [](float r) { return r != 0; }), top);
        for (size_t c = 0; c < residual.size(); ++c) expected[c] += weights.back() * residual[c];
      }
      AtEverySimdLevel([&] {
        for (const bool scatter : {false, true}) {
          const ScopedScatter use(scatter);
          std::vector<float> scores(residual.size());
          ResidualSum(memory).AddTo(rows, weights, description.parameters.temperature, 1.0f,
                                    scores);
          EXPECT_EQ(scores, expected);
        }
      });
    }
  }
}

// Residuals of logits are kept by whoever computes them first.
TEST(ResidualSum, GivesTheSameBitsOnThreadsThatKeepResidualsForEachOther) {
  const TemporaryFolder folder;
  MemoryDescription description;
  description.dim = kKeyDim;
  description.outputs = kSumOutputs;
  const ResidualMemory memory = Open(WriteMemory(folder, description));
  ASSERT_NE(MemoryParts::Cache(memory), nullptr);
  const Question question(80);
  const auto ask = [&](float temperature) {
    std::vector<float> found = question.scores;
    ResidualSum(memory).AddTo(question.rows, question.weights, temperature, 0.3f, found);
    return found;
  };
  const float temperature = description.parameters.temperature;
  std::vector<std::vector<float>> found(8);
  std::vector<std::thread> threads;
  for (auto& mine : found) threads.emplace_back([&] { mine = ask(temperature); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& one : found) EXPECT_EQ(one, ask(temperature));
  // Another temperature is not answered by what was kept at the first.
  EXPECT_NE(ask(2 * temperature), ask(temperature));
}

TEST(ResidualCache, GoesOnWithTheSegmentsOfAnother) {
  int computed = 0;
  const auto ask = [&](ResidualCache& cache, int64_t row) {
    return *cache.FindOrKeep(row, [&](float* out) {
      ++computed;
      out[0] = static_cast<float>(row);
      out[1] = 0;
    });
  };
  ResidualCache former({ResidualCache::MakeSegment(3, 2), ResidualCache::MakeSegment(2, 2)}, 2, 1);
  EXPECT_EQ(ask(former, 2), 2);
  EXPECT_EQ(ask(former, 3), 3);
  EXPECT_EQ(computed, 2);
  // As after an append that replaced the second segment.
  ResidualCache next({former.segments()[0], ResidualCache::MakeSegment(4, 2)}, 2, 1);
  EXPECT_EQ(ask(next, 2), 2);
  EXPECT_EQ(computed, 2);
  EXPECT_EQ(ask(next, 3), 3);
  EXPECT_EQ(ask(next, 6), 6);
  EXPECT_EQ(computed, 4);
}

TEST(ResidualCache, IsTakenOnlyWhereAllRowsHaveRoom) {
  EXPECT_TRUE(ResidualCache::Fits(1 << 16, 256));
  EXPECT_FALSE(ResidualCache::Fits((1 << 16) + 1, 256));
  EXPECT_FALSE(ResidualCache::Fits(1, INT64_MAX / 2));
}

}  // namespace
}  // namespace resmem
