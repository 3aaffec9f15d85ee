#include "lm_training/transformer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/every_simd_level.h"
#include "lm_training/reference_model.h"
#include "support/random.h"

namespace resmem {
namespace {

LanguageModelShape Shape(const std::string& name, int64_t vocabulary) {
  const auto shape = ParseLanguageModel(name, vocabulary);
  EXPECT_TRUE(shape.ok()) << shape.status().message();
  return *shape;
}

TEST(LanguageModel, HasThePublishedParametersLessEncoderAndCrossAttention) {
  // Raffel et al. give 60, 220 and 770 million; exactly they are these (Hugging Face counts the
  // same for its t5-small, t5-base and t5-large).  Encoder and cross-attention, both without
  // biases, are derived from the sizes.
  struct Case {
    const char* name;
    int64_t published;
  };
  for (const auto& [name, published] :
       {Case{"t5-small", 60506624}, Case{"t5-base", 222903552}, Case{"t5-large", 737668096}}) {
    const LanguageModelShape s = Shape(name, 32128);
    const int64_t attention = 4 * s.dim * s.dim + s.dim;  // four matrices and a norm
    const int64_t mlp = 2 * s.dim * s.hidden + s.dim;
    const int64_t encoder = s.layers * (attention + mlp) + 32 * s.heads + s.dim;
    EXPECT_EQ(ParameterCount(s), published - encoder - s.layers * attention) << name;
  }
}

TEST(LanguageModel, NamesThatAreNotOnesAreRefused) {
  for (const char* name : {"t5", "t5-medium", "t5-d256", "t5-d250-l4-h4-f1024",
                           "t5-d256-l0-h4-f1024", "t5-d256-l4-h16-f1024", "t5-d256-l4-h4-f1024x",
                           "t5-d99999999999999999999-l4-h4-f64", "t5-d256-l4-h3-f1024"}) {
    EXPECT_EQ(ParseLanguageModel(name, 32128).status().code(), ErrorCode::kInvalidArgument) << name;
  }
  EXPECT_FALSE(ParseLanguageModel("t5-small", 100).ok());
  EXPECT_EQ(Shape("t5-d64-l3-h2-f96", 64).layers, 3);
}

TEST(PositionBucket, IsThatOfT5) {
  // transformers' T5Attention._relative_position_bucket(bidirectional=False, 32, 128).
  const std::pair<int64_t, int64_t> expected[] = {{0, 0},    {15, 15},  {16, 16},  {18, 16},
                                                  {19, 17},  {32, 21},  {64, 26},  {100, 30},
                                                  {112, 30}, {113, 31}, {127, 31}, {5000, 31}};
  for (const auto& [distance, bucket] : expected) {
    EXPECT_EQ(PositionBucket(distance), bucket) << distance;
  }
}

class TransformerTest : public testing::Test {
 protected:
  static constexpr int64_t kVocabulary = 288;  // two blocks and a part of one

  TransformerTest() {
    Random random(5);
    for (const int64_t length : {40, 7, 64, 33}) {
      ids_.emplace_back();
      targets_.emplace_back();
      for (int64_t i = 0; i < length; ++i) {
        ids_.back().push_back(static_cast<int32_t>(random.Below(kVocabulary)));
        targets_.back().push_back(
            random.Below(8) == 0 ? -1 : static_cast<int32_t>(random.Below(kVocabulary)));
      }
    }
    for (size_t i = 0; i < ids_.size(); ++i) examples_.push_back({ids_[i], targets_[i]});
    // Norms and biases away from their first values.
    for (float& value : values_) value += static_cast<float>(0.05 * random.Normal());
  }

  std::vector<float> Gradient(int threads, double dropout, Outcome* outcome = nullptr) const {
    Transformer model(shape_, layout_, 64, threads);
    model.SetParameters(values_);
    std::vector<float> gradient(values_.size());
    const Outcome learned = model.Learn(examples_, dropout, 77, gradient);
    if (outcome != nullptr) *outcome = learned;
    return gradient;
  }

  const LanguageModelShape shape_ = Shape("t5-d64-l2-h2-f96", kVocabulary);
  const ParameterLayout layout_{shape_, 0.5};
  std::vector<float> values_ = FirstParameters(layout_, 3);
  std::vector<std::vector<int32_t>> ids_, targets_;
  std::vector<TokenExample> examples_;
};

TEST_F(TransformerTest, LossIsThatOfTheDefinition) {
  const fixtures::ReferenceModel reference{shape_, layout_, values_};
  const double expected = reference.Loss(examples_);
  AtEverySimdLevel([&] {
    Transformer model(shape_, layout_, 64, 1);
    model.SetParameters(values_);
    const Outcome outcome = model.Judge(examples_);
    EXPECT_NEAR(outcome.loss, expected, 2e-3 * expected);
  });
}

TEST_F(TransformerTest, TheGradientIsTheSlopeOfTheLoss) {
  Outcome outcome;
  const std::vector<float> gradient = Gradient(2, 0, &outcome);
  int64_t predicted = 0;
  for (const auto& targets : targets_) {
    predicted += std::count_if(targets.begin(), targets.end(), [](int32_t id) { return id >= 0; });
  }
  EXPECT_EQ(outcome.predicted, predicted);
  // Along a random direction within each parameter, the loss in double precision rises as the
  // gradient says.
  for (const Parameter* parameter : layout_.All()) {
    Random random(9, static_cast<uint64_t>(parameter->offset));
    std::vector<float> direction(static_cast<size_t>(parameter->size()));
    double slope = 0, length = 0;
    for (size_t i = 0; i < direction.size(); ++i) {
      const double g = gradient[static_cast<size_t>(parameter->offset) + i];
      // Half of it is the gradient itself: a random direction alone is nearly orthogonal to it.
      direction[i] = static_cast<float>(g + 0.5 * std::abs(g) * random.Normal());
      slope += g * direction[i];
      length += double{direction[i]} * direction[i];
    }
    ASSERT_GT(length, 0) << parameter->name;
    const double step = 1e-3 / std::sqrt(length);
    double losses[2];
    for (const int side : {0, 1}) {
      std::vector<float> moved = values_;
      for (size_t i = 0; i < direction.size(); ++i) {
        moved[static_cast<size_t>(parameter->offset) + i] +=
            static_cast<float>((side == 0 ? -step : step) * direction[i]);
      }
      losses[side] = fixtures::ReferenceModel{shape_, layout_, moved}.Loss(examples_);
    }
    const double measured = (losses[1] - losses[0]) / (2 * step);
    EXPECT_NEAR(measured, slope, 0.03 * std::abs(slope)) << parameter->name;
  }
}

TEST_F(TransformerTest, TheGradientDoesNotDependOnTheThreads) {
  AtEverySimdLevel([&] {
    for (const double dropout : {0.0, 0.2}) {
      const std::vector<float> alone = Gradient(1, dropout);
      for (const int threads : {2, 5}) EXPECT_EQ(Gradient(threads, dropout), alone);
    }
  });
}

// With dropout the loss is another function of the parameters; its slope is the gradient too.
TEST_F(TransformerTest, TheGradientWithDropoutIsTheSlopeOfTheLossWithDropout) {
  const double share = 0.3;
  const std::vector<float> gradient = Gradient(1, share);
  EXPECT_NE(gradient, Gradient(1, 0));
  for (const Parameter* parameter : {&layout_.embedding, &layout_.layers[0].qkv,
                                     &layout_.layers[1].contraction, &layout_.last_norm}) {
    double slope = 0;
    for (int64_t i = 0; i < parameter->size(); ++i) {
      const double g = gradient[static_cast<size_t>(parameter->offset + i)];
      slope += g * g;
    }
    // Numbers of 16 bits make the loss uneven: the step is a long one.
    const double step = 0.02 / std::sqrt(slope);
    double losses[2];
    for (const int side : {0, 1}) {
      std::vector<float> moved = values_;
      for (int64_t i = 0; i < parameter->size(); ++i) {
        const auto index = static_cast<size_t>(parameter->offset + i);
        moved[index] += static_cast<float>((side == 0 ? -step : step) * gradient[index]);
      }
      Transformer model(shape_, layout_, 64, 1);
      model.SetParameters(moved);
      std::vector<float> unused(values_.size());
      losses[side] = model.Learn(examples_, share, 77, unused).loss;
    }
    EXPECT_NEAR((losses[1] - losses[0]) / (2 * step), slope, 0.1 * slope) << parameter->name;
  }
}

TEST_F(TransformerTest, ManyWindowsAddUpAsOneByOne) {
  // More positions than go through the layers, and through the output layer, at once.
  std::vector<TokenExample> many;
  for (int i = 0; i < 80; ++i) many.push_back(examples_[static_cast<size_t>(i) % 3 == 0 ? 0 : 2]);
  Transformer model(shape_, layout_, 64, 2);
  model.SetParameters(values_);
  std::vector<float> together(values_.size()), apart(values_.size());
  const Outcome all = model.Learn(many, 0, 0, together);
  Outcome sum;
  for (const TokenExample& example : many) sum.Add(model.Learn({&example, 1}, 0, 0, apart));
  EXPECT_EQ(all.predicted, sum.predicted);
  EXPECT_EQ(all.right, sum.right);
  EXPECT_NEAR(all.loss, sum.loss, 1e-9 * sum.loss);
  double distance = 0, length = 0;
  for (size_t i = 0; i < apart.size(); ++i) {
    distance += std::pow(together[i] - apart[i], 2);
    length += std::pow(apart[i], 2);
  }
  EXPECT_LT(std::sqrt(distance / length), 1e-5);
}

}  // namespace
}  // namespace resmem
