#include <algorithm>
#include <cmath>

#include "report/sample.h"
#include "support/random.h"

namespace resmem::sample {
namespace {

// A disc and a frame whose size and shade tell classes apart.
Thumbnail Draw(int32_t label, uint64_t seed) {
  Random random(seed);
  Thumbnail image;
  image.height = image.width = 28;
  image.channels = label % 2 == 0 ? 1 : 3;
  for (int64_t y = 0; y < image.height; ++y) {
    for (int64_t x = 0; x < image.width; ++x) {
      const double distance =
          std::hypot(static_cast<double>(x) - 13.5, static_cast<double>(y) - 13.5);
      const double shade = distance < 3 + label ? 220 - 12 * label : 25;
      for (int64_t channel = 0; channel < image.channels; ++channel) {
        const double noise = 30 * random.Uniform() + 20 * static_cast<double>(channel);
        image.pixels.push_back(static_cast<uint8_t>(std::clamp(shade + noise, 0.0, 255.0)));
      }
    }
  }
  return image;
}

// A ledger that adds up exactly, of `k` neighbors over ten classes.
Explanation MakeExplanation(int32_t truth, int32_t other, bool fixed, int64_t k, uint64_t seed) {
  constexpr size_t kClasses = 10;
  Random random(seed);
  Explanation explanation;
  explanation.base.assign(kClasses, 0.01);
  explanation.base[static_cast<size_t>(truth)] = fixed ? 0.38 : 0.51;
  explanation.base[static_cast<size_t>(other)] =
      1 - 0.08 - explanation.base[static_cast<size_t>(truth)];
  std::vector<double> sum = explanation.base;
  double weights = 0;
  for (int64_t i = 0; i < k; ++i) weights += std::exp(-0.1 * static_cast<double>(i));
  for (int64_t i = 0; i < k; ++i) {
    Explanation::Line line;
    line.row = static_cast<int64_t>(random.Below(50000));
    line.id = static_cast<uint64_t>(line.row) + 1000000;
    line.source = i == 0 ? kHostileName : "train/" + std::to_string(line.row) + ".png";
    line.label = (random.Uniform() < 0.8) == fixed ? truth : other;
    line.distance = 0.5 + 0.07 * static_cast<double>(i);
    line.weight = std::exp(-0.1 * static_cast<double>(i)) / weights;
    line.contribution.assign(kClasses, -line.weight * 0.02);
    line.contribution[static_cast<size_t>(line.label)] = line.weight * 0.18;
    for (size_t c = 0; c < kClasses; ++c) sum[c] += line.contribution[c];
    explanation.lines.push_back(std::move(line));
  }
  for (const double exact : sum) {
    explanation.score.push_back(static_cast<float>(exact));
    explanation.rounding.push_back(static_cast<double>(explanation.score.back()) - exact);
  }
  explanation.base_probability.assign(explanation.base.begin(), explanation.base.end());
  explanation.probability = explanation.score;
  explanation.base_prediction = fixed ? other : truth;
  explanation.prediction = fixed ? truth : other;
  explanation.flip_set = {0, 2};
  explanation.distance = {.percentile = 99.5f, .unknown_rate = 0.01, .unknown = true};
  return explanation;
}

}  // namespace

std::vector<Example> ImageExamples() {
  std::vector<Example> examples;
  for (int i = 0; i < 4; ++i) {
    const bool fixed = i < 2;
    const int32_t truth = i == 0 ? 9 : 2 * i, other = truth == 9 ? 7 : truth + 2;
    Example example;
    example.row = 17 + 100 * i;
    example.truth = truth;
    example.explanation = MakeExplanation(truth, other, fixed, 20, 100 + static_cast<uint64_t>(i));
    example.change = static_cast<double>(example.explanation.score[static_cast<size_t>(truth)]) -
                     example.explanation.base[static_cast<size_t>(truth)];
    example.image = Draw(truth, static_cast<uint64_t>(i));
    for (const Explanation::Line& line : example.explanation.lines) {
      example.neighbor_images.push_back(Draw(line.label, line.id));
    }
    examples.push_back(std::move(example));
  }
  return examples;
}

std::vector<Example> TextExamples() {
  Example example;
  example.row = 3;
  example.truth = 4;
  example.explanation = MakeExplanation(4, 6, true, 5, 77);
  // A blend's: the sum is in log space.
  Explanation& blend = example.explanation;
  blend.method = Method::kBlend;
  blend.eta.assign(blend.score.begin(), blend.score.end());
  blend.parts = {blend.eta, std::vector<double>(10), std::vector<double>(10),
                 std::vector<double>(10)};
  for (Explanation::Line& line : blend.lines) line.exact = line.contribution;
  example.text = std::string("the state of the union is ") + kHostileName;
  for (size_t i = 0; i < example.explanation.lines.size(); ++i) {
    example.neighbor_texts.push_back("context number " + std::to_string(i) + " </q> & more");
  }
  return {example};
}

}  // namespace resmem::sample
