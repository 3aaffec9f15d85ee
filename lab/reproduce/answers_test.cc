#include "reproduce/answers.h"

#include <gtest/gtest.h>

#include <cmath>

namespace resmem::cli::reproduce {
namespace {

TEST(Answers, GainIsOfTheLeftMethodAndCountsRows) {
  const std::vector<int32_t> labels = {0, 1, 1, 0};
  // right, right, wrong, wrong; and wrong, right, right, right.
  const std::vector<float> left = {.9f, .1f, .2f, .8f, .6f, .4f, .3f, .7f};
  const std::vector<float> right = {.4f, .6f, .2f, .8f, .1f, .9f, .5f, .5f};
  const Answers one = AnswersOf("one", {}, left, labels), two = AnswersOf("two", {}, right, labels);
  const Json pair = PairOf(one, two);
  EXPECT_EQ(TextAt(pair, "left"), "one");
  EXPECT_EQ(CountAt(pair, "accuracy/fixed"), 1);
  EXPECT_EQ(CountAt(pair, "accuracy/harmed"), 2);
  EXPECT_NEAR(NumberAt(pair, "accuracy/value"), -0.25, 1e-12);
  double nll = 0;
  for (size_t i = 0; i < 4; ++i) nll += one.nll[i] - two.nll[i];
  EXPECT_NEAR(NumberAt(pair, "nll/value"), nll / 4, 1e-12);
  EXPECT_EQ(CountAt(ToJson(two), "accuracy/correct"), 3);
}

TEST(Answers, PartsBehindEachOtherAreAsAllAtOnce) {
  const std::vector<int32_t> labels = {0, 1, 1};
  const std::vector<float> p = {.9f, .1f, .2f, .8f, .6f, .4f};
  const Answers all = AnswersOf("a", {}, p, labels);
  Answers parts = AnswersOf("a", {}, std::span(p).first(2), std::span(labels).first(1));
  parts.Append(AnswersOf("a", {}, std::span(p).subspan(2), std::span(labels).subspan(1)));
  EXPECT_EQ(parts.nll, all.nll);
  EXPECT_EQ(parts.right, all.right);
}

TEST(Answers, ProbabilityOfZeroCountsAsTheLeastOne) {
  const Answers answers = AnswersOf("a", {}, std::vector<float>{1, 0}, std::vector<int32_t>{1});
  EXPECT_NEAR(answers.nll[0], 23 * std::log(2.0), 1e-9);
}

}  // namespace
}  // namespace resmem::cli::reproduce
