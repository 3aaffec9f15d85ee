#include <gtest/gtest.h>
#include <unistd.h>

#include "recipe/train_recipe.h"
#include "resmem/models/onnx_model.h"
#include "train/networks/network.h"
#include "train/optimizer.h"
#include "train/schedule.h"
#include "train/test_runtime.h"

namespace resmem::train {
namespace {

constexpr InputShape kCifar{3, 32, 32};

int64_t Parameters(const std::string& name, const InputShape& input, int64_t classes) {
  auto network = MakeNetwork(name, input, classes);
  EXPECT_TRUE(network.ok()) << network.status().message();
  return network.ok() ? (*network)->ParameterCount() : 0;
}

TEST(Networks, HaveThePublishedNumbersOfParameters) {
  // The CIFAR ResNets of pytorch-cifar-models: 0.27, 0.47, 0.66 and 0.86 million.
  EXPECT_EQ(Parameters("resnet8", kCifar, 10), 78042);
  EXPECT_EQ(Parameters("resnet20", kCifar, 10), 272474);
  EXPECT_EQ(Parameters("resnet32", kCifar, 10), 466906);
  EXPECT_EQ(Parameters("resnet44", kCifar, 10), 661338);
  EXPECT_EQ(Parameters("resnet56", kCifar, 10), 855770);
  // torchvision's mobilenet_v2; Keras gives 1.97 and 2.64 million trainable at 0.5 and 0.75.
  EXPECT_EQ(Parameters("mobilenetv2-1.0", {3, 224, 224}, 1000), 3504872);
  EXPECT_NEAR(static_cast<double>(Parameters("mobilenetv2-0.5", {3, 224, 224}, 1000)), 1.97e6, 1e4);
  EXPECT_NEAR(static_cast<double>(Parameters("mobilenetv2-0.75", {3, 224, 224}, 1000)), 2.64e6,
              1e4);
  EXPECT_EQ(Parameters("linear", {20, 0, 0}, 3), 63);
  EXPECT_EQ(Parameters("mlp-8-4", {20, 0, 0}, 3), 21 * 8 + 9 * 4 + 5 * 3);
}

TEST(Networks, GiveEmbeddingAndLogitsOfTheirShapes) {
  torch::NoGradGuard no_gradient;
  for (const char* name : {"resnet8", "mobilenetv2-0.35"}) {
    auto network = MakeNetwork(name, kCifar, 7);
    ASSERT_TRUE(network.ok());
    (*network)->eval();
    const auto outputs = (*network)->Forward(torch::zeros({2, 3, 32, 32}));
    EXPECT_EQ(outputs.embedding.sizes(), (std::vector<int64_t>{2, (*network)->dim()})) << name;
    EXPECT_EQ(outputs.logits.sizes(), (std::vector<int64_t>{2, 7})) << name;
  }
}

TEST(Networks, RefuseDataOfTheOtherKind) {
  EXPECT_EQ(MakeNetwork("resnet8", {20, 0, 0}, 3).status().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(MakeNetwork("mlp-8", kCifar, 3).status().code(), ErrorCode::kInvalidArgument);
}

TEST(Networks, StartFromTheSeed) {
  const auto first_weight = [](uint64_t seed) {
    torch::manual_seed(seed);
    return (*MakeNetwork("resnet8", kCifar, 10))->parameters()[0];
  };
  EXPECT_TRUE(torch::equal(first_weight(5), first_weight(5)));
  EXPECT_FALSE(torch::equal(first_weight(5), first_weight(6)));
}

// As a trained network has them: nothing at its first value.
void Stir(Network& network) {
  torch::NoGradGuard no_gradient;
  for (auto& parameter : network.parameters()) parameter.add_(torch::randn_like(parameter), 0.1);
  for (auto& item : network.named_buffers()) {
    item.value().add_(torch::rand_like(item.value()), 0.5);
  }
}

TEST(Networks, AnswerAsTheirExportedGraphs) {
  torch::NoGradGuard no_gradient;
  torch::manual_seed(11);
  struct Case {
    const char* name;
    InputShape input;
  };
  for (const auto& [name, input] :
       {Case{"resnet8", kCifar}, Case{"resnet14", {1, 28, 28}}, Case{"mobilenetv2-0.35", kCifar},
        Case{"mobilenetv2-0.35", {3, 96, 96}}, Case{"linear", {6, 0, 0}},
        Case{"mlp-16-8", {6, 0, 0}}}) {
    constexpr int64_t kRows = 5, kClasses = 7;
    auto network = *MakeNetwork(name, input, kClasses);
    Stir(*network);
    network->eval();
    const bool table = input.height == 0;
    std::vector<int64_t> shape = {input.channels};
    if (!table) shape = {input.channels, input.height, input.width};
    OnnxGraph graph;
    network->Export(graph, graph.Input(kInputName, shape));
    const std::string path = testing::TempDir() + "export_" + std::to_string(getpid()) + ".onnx";
    ASSERT_TRUE(graph.Write(path).ok());
    ModelManifest manifest;
    manifest.input = kInputName;
    manifest.embedding = kEmbeddingName;
    manifest.logits = kLogitsName;
    manifest.dim = network->dim();
    manifest.classes = kClasses;
    if (table) {
      manifest.columns = input.channels;
    } else {
      manifest.channels = input.channels;
      manifest.height = input.height;
      manifest.width = input.width;
      manifest.mean.assign(static_cast<size_t>(input.channels), 0);
      manifest.deviation.assign(static_cast<size_t>(input.channels), 1);
    }
    ASSERT_TRUE(WriteModelManifest(path, manifest).ok());
    auto model = OnnxModel::Open(path);
    if (MaySkip(model.status())) GTEST_SKIP() << model.status().message();
    ASSERT_TRUE(model.ok()) << model.status().message();

    shape.insert(shape.begin(), kRows);
    const torch::Tensor inputs = torch::randn(shape);
    const auto expected = network->Forward(inputs);
    torch::Tensor keys = torch::empty({kRows, network->dim()});
    torch::Tensor logits = torch::empty({kRows, kClasses});
    const auto values = [](torch::Tensor& t) {
      return std::span<float>(t.data_ptr<float>(), static_cast<size_t>(t.numel()));
    };
    ASSERT_TRUE(model
                    ->RunFloats(MatrixView(inputs.data_ptr<float>(), kRows, inputs.numel() / kRows),
                                values(keys), values(logits))
                    .ok());
    EXPECT_TRUE(torch::allclose(expected.embedding, keys, 1e-4, 1e-4)) << name;
    EXPECT_TRUE(torch::allclose(expected.logits, logits, 1e-4, 1e-4)) << name;
    EXPECT_GT(expected.logits.abs().max().item<float>(), 1e-2) << name;
  }
}

TEST(Optimizer, TakesTheStepsOfLibtorch) {
  for (const bool nesterov : {false, true}) {
    torch::Tensor mine = torch::ones({4}).requires_grad_(true);
    torch::Tensor theirs = torch::ones({4}).requires_grad_(true);
    Optimizer optimizer({mine}, 0.9, nesterov, 0.01);
    torch::optim::SGD reference(
        {theirs},
        torch::optim::SGDOptions(0.1).momentum(0.9).nesterov(nesterov).weight_decay(0.01));
    const torch::Tensor slope = torch::tensor({1.0f, -2.0f, 0.5f, 3.0f});
    for (int step = 0; step < 5; ++step) {
      optimizer.ZeroGradients();
      reference.zero_grad();
      (mine * mine * slope).sum().backward();
      (theirs * theirs * slope).sum().backward();
      optimizer.Step(0.1);
      reference.step();
    }
    EXPECT_TRUE(torch::allclose(mine, theirs, 1e-5, 1e-6));
  }
}

TEST(Schedule, PaperWarmsUpAndDropsThreeTimes) {
  TrainRecipe recipe;
  ASSERT_TRUE(ApplyPreset("paper", &recipe).ok());
  constexpr int64_t kSteps = 391;
  EXPECT_NEAR(RateAt(recipe, 0, kSteps), 0.4 / (15 * 391), 1e-12);
  EXPECT_DOUBLE_EQ(RateAt(recipe, 15 * kSteps, kSteps), 0.4);
  EXPECT_DOUBLE_EQ(RateAt(recipe, 96 * kSteps - 1, kSteps), 0.4);
  EXPECT_NEAR(RateAt(recipe, 96 * kSteps, kSteps), 0.04, 1e-12);
  EXPECT_NEAR(RateAt(recipe, 192 * kSteps, kSteps), 0.004, 1e-12);
  EXPECT_NEAR(RateAt(recipe, 224 * kSteps, kSteps), 0.0004, 1e-12);
}

TEST(Schedule, AWarmUpOfPartOfAStepNeverLeavesThePeakBehind) {
  TrainRecipe recipe;
  ASSERT_TRUE(ApplyPreset("short", &recipe).ok());
  recipe.epochs = 1;
  for (const double warmup : {0.0, 0.21, 0.5, 0.9}) {
    recipe.warmup_epochs = warmup;
    for (const int64_t steps : {1, 2, 3, 7}) {
      for (int64_t step = 0; step < steps; ++step) {
        EXPECT_LE(RateAt(recipe, step, steps), recipe.peak_rate) << warmup << ", " << step;
      }
    }
  }
}

TEST(Schedule, OneCycleRisesToThePeakAndFallsToZero) {
  TrainRecipe recipe;
  ASSERT_TRUE(ApplyPreset("short", &recipe).ok());
  constexpr int64_t kSteps = 100;
  const auto warmup = static_cast<int64_t>(recipe.warmup_epochs) * kSteps;
  EXPECT_DOUBLE_EQ(RateAt(recipe, warmup - 1, kSteps), recipe.peak_rate);
  EXPECT_DOUBLE_EQ(RateAt(recipe, warmup, kSteps), recipe.peak_rate);
  for (int64_t step = warmup; step + 1 < recipe.epochs * kSteps; ++step) {
    EXPECT_GE(RateAt(recipe, step, kSteps), RateAt(recipe, step + 1, kSteps));
  }
  EXPECT_LT(RateAt(recipe, recipe.epochs * kSteps - 1, kSteps), 1e-4);
}

}  // namespace
}  // namespace resmem::train
