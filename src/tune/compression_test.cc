#include <gtest/gtest.h>

#include <filesystem>

#include "fixtures/every_memory.h"
#include "resmem/compress.h"
#include "tune/compression_choice.h"

namespace resmem {
namespace {

using fixtures::TemporaryFolder;

FormOutcome Outcome(int64_t rows, int64_t wrong, double nll) {
  FormOutcome outcome;
  for (int64_t row = 0; row < rows; ++row) {
    outcome.right.push_back(row * wrong / rows == (row + 1) * wrong / rows ? 1 : 0);
    outcome.nll.push_back(nll);
  }
  return outcome;
}

TEST(ChooseForm, TakesTheSmallestThatStaysWithinBothLosses) {
  const FormOutcome own = Outcome(1000, 100, 1.0), good = Outcome(1000, 100, 1.004),
                    vague = Outcome(1000, 100, 1.02), wrong = Outcome(1000, 140, 1.0);
  std::vector<JudgedForm> forms = {{{}, 1000, &own},
                                   {{KeyType::kInt8}, 500, &good},
                                   {{KeyType::kInt4}, 400, &vague},
                                   {{KeyType::kInt4, true}, 300, &wrong}};
  CompressionOptions options;
  options.loss = 0.1;
  options.perplexity_loss = 0.5;
  auto chosen = ChooseForm(forms, options);
  ASSERT_TRUE(chosen.ok()) << chosen.status().message();
  EXPECT_EQ(chosen->points[chosen->chosen].bytes, 500);
  EXPECT_EQ(chosen->strictness, 1);
  EXPECT_NEAR(chosen->cross_validated.perplexity, 100 * std::expm1(0.004), 1e-9);
  EXPECT_NEAR(chosen->points.back().loss.points, 4, 1e-9);
  EXPECT_LT(chosen->points.back().loss.points_interval.low, 4);
  EXPECT_GT(chosen->points.back().loss.points_interval.low, 1);
  options.perplexity_loss = 3;
  EXPECT_EQ(ChooseForm(forms, options)->points[ChooseForm(forms, options)->chosen].bytes, 400);
  options.loss = 5;
  EXPECT_EQ(ChooseForm(forms, options)->points[ChooseForm(forms, options)->chosen].bytes, 300);
  options.loss = options.perplexity_loss = 0;
  chosen = ChooseForm(forms, options);
  EXPECT_EQ(chosen->chosen, 0u);
  EXPECT_EQ(chosen->cross_validated.points, 0);
}

TEST(ChooseForm, AChoiceThatOnlyLooksGoodOnItsOwnRowsIsNotTrusted) {
  // Each form loses on one row, on average no more than asked; without that row's fold it seems to
  // lose nothing, while the others lose too much.
  constexpr int64_t kRows = 200;
  const FormOutcome own = Outcome(kRows, 0, 1.0);
  std::vector<FormOutcome> others(kRows, own);
  std::vector<JudgedForm> forms = {{{}, 1000, &own}};
  for (size_t i = 0; i < others.size(); ++i) {
    others[i].nll[i] += 0.9;
    forms.push_back({{}, 900 - static_cast<int64_t>(i), &others[i]});
  }
  CompressionOptions options;
  options.perplexity_loss = 0.5;
  const auto chosen = ChooseForm(forms, options);
  ASSERT_TRUE(chosen.ok());
  EXPECT_LT(chosen->points.back().loss.perplexity, 0.5);
  EXPECT_EQ(chosen->chosen, 0u);
  EXPECT_EQ(chosen->strictness, 0);
}

class ChooseCompressionTest : public testing::Test {
 protected:
  ChooseCompressionTest() {
    description_ = Small();
    description_.dim = 8;
    description_.outputs = 10;
    description_.parameters = {5, 1, 1};
    options_.scratch = folder_ / "scratch";
    options_.shares = {0.95f, 0.7f};
    fixtures::Write(folder_ / "m", description_, rows_.view(description_));
  }

  const TemporaryFolder folder_{fixtures::FastParent()};
  const RowData rows_ = MakeRows(400, 8, 10), held_out_ = MakeRows(100, 8, 10, 7);
  MemoryDescription description_;
  CompressionOptions options_;
};

TEST_F(ChooseCompressionTest, MeasuresEveryFormAsTheFormItselfAnswers) {
  const Rows held_out = held_out_.view(description_, false);
  const auto chosen = ChooseCompression(folder_ / "m", ReadRows(held_out), options_);
  ASSERT_TRUE(chosen.ok()) << chosen.status().message();
  EXPECT_FALSE(std::filesystem::exists(options_.scratch));
  EXPECT_EQ(chosen->rows, 400);
  EXPECT_EQ(chosen->judged, 100);
  ASSERT_EQ(chosen->points.size(), 15u);  // 3 types of keys, 1 + 2 x 2 forms of residuals
  for (const CompressionPoint& point : chosen->points) {
    SCOPED_TRACE(StoredFormText(point.form));
    const std::string path = folder_ / "one";
    ASSERT_TRUE(CompressMemory(folder_ / "m", path, point.form, {.overwrite = true}).ok());
    const ResidualMemory memory = fixtures::Open(path);
    const auto evaluation = Evaluate(Predictor(memory), ReadRows(held_out));
    ASSERT_TRUE(evaluation.ok()) << evaluation.status().message();
    EXPECT_EQ(point.accuracy, evaluation->methods.back().accuracy.value);
    EXPECT_NEAR(point.nll, evaluation->resmem_calibration.nll, 1e-6);
    EXPECT_NEAR(static_cast<double>(point.bytes), static_cast<double>(memory.bytes_on_disk()), 200);
  }
}

TEST_F(ChooseCompressionTest, DeletedRowsChangeNothing) {
  const Rows held_out = held_out_.view(description_, false);
  const std::vector<uint64_t> gone = {rows_.ids[0], rows_.ids[200]};
  ASSERT_TRUE(DeleteRows(folder_ / "m", gone).ok());
  const auto worn = ChooseCompression(folder_ / "m", ReadRows(held_out), options_);
  ASSERT_TRUE(CompactMemory(folder_ / "m").ok());
  const auto fresh = ChooseCompression(folder_ / "m", ReadRows(held_out), options_);
  ASSERT_TRUE(worn.ok() && fresh.ok());
  for (const CompressionPoint& point : worn->points) {
    const auto same = std::ranges::find_if(fresh->points, [&](const CompressionPoint& other) {
      return StoredFormText(other.form) == StoredFormText(point.form);
    });
    ASSERT_NE(same, fresh->points.end());
    EXPECT_EQ(point.accuracy, same->accuracy) << StoredFormText(point.form);
    EXPECT_EQ(point.nll, same->nll) << StoredFormText(point.form);
  }
}

TEST_F(ChooseCompressionTest, RefusesWhatItCannotJudge) {
  const Rows held_out = held_out_.view(description_, false);
  const auto code = [&](const std::string& path, const Rows& rows) {
    return ChooseCompression(path, ReadRows(rows), options_).status().code();
  };
  EXPECT_EQ(code(folder_ / "m", held_out.Slice(0, 3)), ErrorCode::kBadData);
  const RowData other = MakeRows(100, 7, 10);
  EXPECT_EQ(code(folder_ / "m", other.view(description_, false)), ErrorCode::kBadData);
  ASSERT_TRUE(
      CompressMemory(folder_ / "m", folder_ / "small", {KeyType::kInt4, true, 0.9f, 0}).ok());
  EXPECT_EQ(code(folder_ / "small", held_out), ErrorCode::kUnsupported);
  options_.loss = -1;
  EXPECT_EQ(code(folder_ / "m", held_out), ErrorCode::kInvalidArgument);
  options_.loss = 0.1;
  std::filesystem::create_directory(options_.scratch);
  EXPECT_EQ(code(folder_ / "m", held_out), ErrorCode::kIo);
  EXPECT_TRUE(std::filesystem::exists(options_.scratch));  // somebody else's
}

}  // namespace
}  // namespace resmem
