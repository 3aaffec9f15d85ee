#include "reproduce/imagenet/last_layer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "reproduce/answers.h"
#include "support/random.h"

namespace resmem::cli::reproduce::imagenet {
namespace {

// Keys that tell three classes apart, with noise; the logits say nothing.
Embedded Draw(int64_t rows, uint64_t seed) {
  Embedded drawn;
  drawn.dim = 4;
  drawn.classes = 3;
  Random random(seed, 0);
  for (int64_t row = 0; row < rows; ++row) {
    const auto label = static_cast<int32_t>(random.Below(3));
    for (int32_t i = 0; i < 4; ++i) {
      const auto noise = static_cast<float>(random.Below(1000)) / 1000;
      drawn.keys.push_back(10 * ((i == label ? 1.0f : 0.0f) + noise));
    }
    drawn.logits.insert(drawn.logits.end(), 3, 0.0f);
    drawn.labels.push_back(label);
  }
  return drawn;
}

double AccuracyOf(const Embedded& rows) {
  const Answers answers = AnswersOf("", {}, rows.logits, rows.labels);
  double right = 0;
  for (const bool one : answers.right) right += one;
  return right / static_cast<double>(rows.count());
}

LastLayerOptions OneThread() {
  LastLayerOptions options;
  options.rates = {1, 3};
  options.epochs = 8;
  options.batch = 32;
  options.threads = 1;
  return options;
}

TEST(LastLayer, LearnsWhatTheKeysShow) {
  const Embedded learn = Draw(600, 1), held_out = Draw(300, 2), test = Draw(300, 3);
  Result<LastLayer> layer = FitLastLayer(learn, held_out, OneThread());
  ASSERT_TRUE(layer.ok());
  EXPECT_GT(NumberAt(layer->chosen, "epoch"), 0);
  EXPECT_LT(NumberAt(layer->chosen, "nll"), NumberAt(layer->chosen, "nll_before"));
  EXPECT_GT(AccuracyOf(layer->Apply(test, 1)), 0.9);
}

TEST(LastLayer, ThreadsDoNotChangeIt) {
  const Embedded learn = Draw(200, 1), held_out = Draw(100, 2);
  LastLayerOptions options = OneThread();
  const Result<LastLayer> one = FitLastLayer(learn, held_out, options);
  options.threads = 3;
  const Result<LastLayer> three = FitLastLayer(learn, held_out, options);
  ASSERT_TRUE(one.ok() && three.ok());
  EXPECT_EQ(one->weights, three->weights);
  EXPECT_EQ(one->offset, three->offset);
}

TEST(LastLayer, OneThatHelpsNobodyIsNotTaken) {
  const Embedded learn = Draw(200, 1);
  Embedded held_out = Draw(100, 2);
  // Held-out rows that the network has right beyond doubt: every change makes them worse.
  for (int64_t row = 0; row < held_out.count(); ++row) {
    const auto at = static_cast<size_t>(3 * row + held_out.labels[static_cast<size_t>(row)]);
    held_out.logits[at] = 500;
  }
  Result<LastLayer> layer = FitLastLayer(learn, held_out, OneThread());
  ASSERT_TRUE(layer.ok());
  EXPECT_EQ(NumberAt(layer->chosen, "epoch"), 0);
  EXPECT_EQ(layer->Apply(held_out, 1).logits, held_out.logits);
}

}  // namespace
}  // namespace resmem::cli::reproduce::imagenet
