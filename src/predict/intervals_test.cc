#include "resmem/intervals.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "fixtures/small_memory.h"
#include "support/random.h"

namespace resmem {
namespace {

using namespace fixtures;

// y = sin(3 x) + noise that is much larger on the right; the base predicts 0.
struct NoisyCurve {
  NoisyCurve(int64_t rows, uint64_t seed) {
    Random random(seed);
    for (int64_t i = 0; i < rows; ++i) {
      const double x = random.Normal();
      keys.push_back(static_cast<float>(x));
      targets.push_back(
          static_cast<float>(std::sin(3 * x) + (x > 0 ? 1.0 : 0.1) * random.Normal()));
    }
    predictions.resize(keys.size());
  }
  Rows view() const {
    const auto count = static_cast<int64_t>(keys.size());
    Rows rows;
    rows.keys = MatrixView(keys.data(), count, 1);
    rows.logits = MatrixView(predictions.data(), count, 1);
    rows.targets = MatrixView(targets.data(), count, 1);
    return rows;
  }
  std::vector<float> keys, targets, predictions;
};

class IntervalsTest : public testing::Test {
 protected:
  IntervalsTest() {
    MemoryDescription description;
    description.task = Task::kRegression;
    description.form = ResidualForm::kDense;
    description.dim = 1;
    description.outputs = 1;
    description.parameters = {40, 0.1f, 1};
    const NoisyCurve train(2000, 1);
    Write(folder_ / "m", description, train.view());
    memory_ = std::make_unique<ResidualMemory>(Open(folder_ / "m"));
    predictor_ = std::make_unique<Predictor>(*memory_);
  }

  IntervalFit Fit(const NoisyCurve& rows) const {
    Result<IntervalFit> fit = FitIntervals(*predictor_, ReadRows(rows.view()));
    EXPECT_TRUE(fit.ok()) << fit.status().message();
    return std::move(fit).value();
  }

  const TemporaryFolder folder_;
  std::unique_ptr<ResidualMemory> memory_;
  std::unique_ptr<Predictor> predictor_;
};

// Over many draws of held-out rows, the mean coverage is what was asked for: at least, and above by
// no more than 1 / (rows + 1).
TEST_F(IntervalsTest, CoverWhatWasAskedForOverManyDraws) {
  constexpr int64_t kDraws = 40, kHeldOut = 99, kNew = 500;
  const std::vector<double> shares = {0.5, 0.8, 0.9};
  std::vector<double> covered(shares.size());
  for (int64_t draw = 0; draw < kDraws; ++draw) {
    const IntervalFit fit = Fit(NoisyCurve(kHeldOut, 100 + static_cast<uint64_t>(draw)));
    const NoisyCurve fresh(kNew, 1000 + static_cast<uint64_t>(draw));
    const auto judged = JudgeIntervals(*predictor_, fit, ReadRows(fresh.view()), shares);
    ASSERT_TRUE(judged.ok()) << judged.status().message();
    for (size_t s = 0; s < shares.size(); ++s) {
      EXPECT_EQ((*judged)[s].values, kNew);
      covered[s] += static_cast<double>((*judged)[s].covered) / (kNew * kDraws);
    }
  }
  for (size_t s = 0; s < shares.size(); ++s) {
    // Of the mean over draws: each has a deviation of sqrt(p (1 - p) / 100) for its held-out rows.
    const double noise = 3 * std::sqrt(shares[s] * (1 - shares[s]) / 100 / kDraws);
    EXPECT_NEAR(covered[s], shares[s], noise + 0.01) << shares[s];
  }
}

TEST_F(IntervalsTest, AreWideWhereNeighborsDisagreeAndBeatOneWidthForAll) {
  const IntervalFit fit = Fit(NoisyCurve(1000, 3));
  const auto factors = IntervalFactors(fit, 0.9);
  ASSERT_TRUE(factors.ok());
  const std::vector<float> asked = {-1.0f, 1.0f};
  Neighbors neighbors;
  ASSERT_TRUE(predictor_
                  ->FindNeighbors(MatrixView(asked.data(), 2, 1), fit.parameters.k, {}, 1, nullptr,
                                  &neighbors)
                  .ok());
  const std::vector<float> widths = HalfWidths(*predictor_, fit, *factors, neighbors);
  EXPECT_LT(2 * widths[0], widths[1]);
  const std::vector<double> shares = {0.9};
  const NoisyCurve fresh(2000, 4);
  const auto judged = JudgeIntervals(*predictor_, fit, ReadRows(fresh.view()), shares);
  ASSERT_TRUE(judged.ok());
  EXPECT_LT((*judged)[0].width, 0.9 * (*judged)[0].base_width);
  EXPECT_LT((*judged)[0].pinball, (*judged)[0].base_pinball);
}

TEST_F(IntervalsTest, TheMemoryKeepsThemUntilItsAnswerChanges) {
  const IntervalFit fit = Fit(NoisyCurve(5000, 3));
  EXPECT_EQ(std::ssize(fit.outputs[0].scores), kMostIntervalScores);
  MemoryDescription description = memory_->description();
  description.notes[kIntervalsNote] = IntervalFitText(fit);
  ASSERT_TRUE(UpdateDescription(folder_ / "m", description).ok());
  const auto kept = IntervalsOf(Open(folder_ / "m"), "m");
  ASSERT_TRUE(kept.ok()) << kept.status().message();
  EXPECT_EQ(kept->rows, 5000);
  EXPECT_EQ(kept->outputs[0].scores, fit.outputs[0].scores);
  EXPECT_EQ(*IntervalFactors(*kept, 0.9), *IntervalFactors(fit, 0.9));
  description.parameters.k = 41;
  ASSERT_TRUE(UpdateDescription(folder_ / "m", description).ok());
  EXPECT_EQ(IntervalsOf(Open(folder_ / "m"), "m").status().code(), ErrorCode::kMismatch);
  for (const char* damaged :
       {"", "{}", "[1]", R"({"rows":1,"outputs":[]})",
        R"({"rows":2,"outputs":[{"constant":0,"scores":[1],"base_misses":[1]}]})",
        R"({"rows":2,"outputs":[{"constant":1,"scores":[2,1],"base_misses":[1]}]})",
        R"({"rows":-2,"outputs":[{"constant":1,"scores":[1],"base_misses":[1]}]})"}) {
    description.notes[kIntervalsNote] = damaged;
    ASSERT_TRUE(UpdateDescription(folder_ / "m", description).ok());
    EXPECT_EQ(IntervalsOf(Open(folder_ / "m"), "m").status().code(), ErrorCode::kCorrupt)
        << damaged;
  }
}

TEST_F(IntervalsTest, MistakesAreRefused) {
  const IntervalFit fit = Fit(NoisyCurve(8, 3));
  EXPECT_EQ(*IntervalFactors(fit, 0.5), std::vector<float>{fit.outputs[0].scores[4]});
  EXPECT_EQ(*IntervalFactors(fit, 0.88), std::vector<float>{fit.outputs[0].scores[7]});
  const Status few = IntervalFactors(fit, 0.9).status();
  EXPECT_EQ(few.message(),
            "an interval of the share 0.9 cannot be told from 8 held-out rows; give at least 9");
  for (const double share : {0.0, 1.0, -1.0, std::nan("")}) {
    EXPECT_EQ(IntervalFactors(fit, share).status().code(), ErrorCode::kInvalidArgument);
  }
  NoisyCurve rows(9, 3);
  const std::vector<Role> roles(9, Role::kTrain);
  Rows trained = rows.view();
  trained.roles = roles;
  EXPECT_EQ(FitIntervals(*predictor_, ReadRows(trained)).status().code(),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(IntervalsOf(*memory_, "m").status().code(), ErrorCode::kNotFound);
  const Problem problem = MakeProblem(20, 3, 4, 1);
  Write(folder_ / "c", DescribeShape(3, 4, 2), problem.view());
  const ResidualMemory classes = Open(folder_ / "c");
  EXPECT_EQ(FitIntervals(Predictor(classes), ReadRows(problem.view())).status().code(),
            ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace resmem
