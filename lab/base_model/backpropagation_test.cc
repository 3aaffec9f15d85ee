#include "base_model/backpropagation.h"

#include <gtest/gtest.h>

#include <numeric>

#include "support/random.h"

namespace resmem {
namespace {

constexpr int64_t kRows = 7, kInputs = 5, kClasses = 3;
const std::vector<int32_t> kLabels = {0, 1, 2, 1, 0, 2, 2};

void Randomize(Random* random, std::vector<float>* values) {
  for (float& value : *values) value = static_cast<float>(random->Normal());
}

struct Fixture {
  Network network;
  LayerValues values, deltas;
  std::vector<double> losses = std::vector<double>(kRows);

  explicit Fixture(int64_t hidden)
      : network(MakeNetwork(kInputs, hidden, kClasses)),
        values(network, kRows),
        deltas(network, kRows) {
    Random random(3);
    for (Layer& layer : network.layers) {
      Randomize(&random, &layer.weights);
      Randomize(&random, &layer.bias);
    }
    Randomize(&random, &values.values[0]);
  }

  double MeanLoss() {
    Forward(network, 0, kRows, &values);
    std::vector<std::vector<float>> transposed;
    for (const Layer& layer : network.layers) transposed.push_back(Transposed(layer));
    Backward(network, transposed, values, kLabels, 1.0f / kRows, 0, kRows, &deltas, losses);
    return std::accumulate(losses.begin(), losses.end(), 0.0) / kRows;
  }

  double Slope(float* parameter) {
    constexpr float kStep = 1e-2f;
    const float center = *parameter;
    *parameter = center + kStep;
    const double above = MeanLoss();
    *parameter = center - kStep;
    const double below = MeanLoss();
    *parameter = center;
    return (above - below) / (2 * kStep);
  }
};

void ExpectGradientsMatchSlopes(int64_t hidden) {
  Fixture fixture(hidden);
  for (size_t l = 0; l < fixture.network.layers.size(); ++l) {
    Layer& layer = fixture.network.layers[l];
    fixture.MeanLoss();
    std::vector<float> weights(layer.weights.size()), bias(layer.bias.size());
    WeightGradient(fixture.network, l, fixture.values, fixture.deltas, kRows, 0, layer.inputs,
                   weights);
    BiasGradient(fixture.network, l, fixture.deltas, kRows, bias);
    for (size_t i = 0; i < weights.size(); ++i) {
      EXPECT_NEAR(weights[i], fixture.Slope(&layer.weights[i]), 2e-3) << "layer " << l;
    }
    for (size_t i = 0; i < bias.size(); ++i) {
      EXPECT_NEAR(bias[i], fixture.Slope(&layer.bias[i]), 2e-3) << "layer " << l;
    }
  }
}

TEST(Backpropagation, GradientsOfALinearModelMatchFiniteDifferences) {
  ExpectGradientsMatchSlopes(0);
}

TEST(Backpropagation, GradientsOfAHiddenLayerMatchFiniteDifferences) {
  ExpectGradientsMatchSlopes(6);
}

TEST(Backpropagation, LossIsFiniteWhereTheProbabilityIsNot) {
  Fixture fixture(0);
  for (float& weight : fixture.network.layers[0].weights) weight *= 1000;
  const double loss = fixture.MeanLoss();
  EXPECT_GT(loss, 100);
  EXPECT_LT(loss, 1e6);
}

}  // namespace
}  // namespace resmem
