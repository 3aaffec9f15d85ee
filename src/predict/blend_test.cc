#include "predict/blend.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "fixtures/every_memory.h"
#include "kernels/every_simd_level.h"
#include "predict/portable_log.h"
#include "resmem/predictor.h"

namespace resmem {
namespace {

constexpr int64_t kDim = 3, kOutputs = 21, kRows = 200, kQueries = 40;

// Trusts every part a little, and the nearer the more.
Blend MakeBlend(float temperature) {
  Blend blend;
  blend.parameters = {17, 0.4f, temperature};
  blend.prior = 0.6f;
  blend.base_temperature = 1.2f;
  blend.coefficients = {{{0.7f, 0.1f, 0, -0.05f},
                         {0.4f, -0.2f, 0.03f, 0},
                         {-0.3f, 0, 0.02f, 0.04f},
                         {0.9f, -0.1f, 0, 0.1f}}};
  blend.gate_means = {-0.5f, 0.2f, 1.5f};
  blend.gate_deviations = {0.6f, 0.3f, 0.4f};
  for (int i = 0; i <= 100; ++i) blend.distances.push_back(0.012f * static_cast<float>(i));
  for (int i = 0; i <= 100; ++i) blend.spreads.push_back(0.5f + 0.05f * static_cast<float>(i));
  return blend;
}

// As they were fitted before the spread was looked at.
Blend MakeFormerBlend(float temperature) {
  Blend blend = MakeBlend(temperature);
  blend.spreads.clear();
  return blend;
}

std::vector<double> SoftmaxOf(std::vector<double> eta) {
  const double largest = *std::max_element(eta.begin(), eta.end());
  double total = 0;
  for (double& value : eta) total += value = std::exp(value - largest);
  for (double& value : eta) value /= total;
  return eta;
}

// docs/predictor.md in double, from the memory's labels and residuals.
std::vector<double> ReferenceBlend(const ResidualMemory& memory, std::span<const float> logits,
                                   std::span<const int64_t> rows, std::span<const float> distances,
                                   const Blend& blend) {
  const size_t outputs = logits.size();
  std::vector<double> weights, a(outputs), r(outputs);
  double total = 0, squares = 0;
  for (const float d : distances) {
    total += weights.emplace_back(std::exp(-(d - distances[0]) / blend.parameters.sigma));
  }
  std::vector<float> residual(outputs);
  for (size_t i = 0; i < rows.size(); ++i) {
    const double w = weights[i] / total;
    squares += w * w;
    a[static_cast<size_t>(memory.label(rows[i]))] += w;
    memory.Residual(rows[i], blend.parameters.temperature, residual);
    for (size_t c = 0; c < outputs; ++c) r[c] += w * residual[c];
  }
  const double u[] = {std::log(distances[0]), std::log(distances.back()), -std::log(squares)};
  const auto ramp = [](double begin, double end, double value) {
    return std::clamp((end - value) / (end - begin), 0.0, 1.0);
  };
  std::vector<double> f(logits.begin(), logits.end()), f0 = f, eta(outputs);
  double mean = 0, variance = 0;
  for (const float value : logits) mean += value / static_cast<double>(outputs);
  for (const float value : logits) {
    variance += (value - mean) * (value - mean) / static_cast<double>(outputs);
  }
  double fade =
      ramp(blend.distances[blend.spreads.empty() ? 90 : 95], blend.distances[99], distances[9]);
  if (!blend.spreads.empty()) {
    fade *= ramp(-blend.spreads[5], -blend.spreads[0], -std::sqrt(variance));
  }
  double b[4];
  for (size_t j = 0; j < 4; ++j) {
    b[j] = blend.coefficients[j][0];
    for (size_t m = 0; m < 3; ++m) {
      b[j] += blend.coefficients[j][m + 1] *
              std::clamp((u[m] - blend.gate_means[m]) / blend.gate_deviations[m], -3.0, 3.0);
    }
    b[j] *= fade;
  }
  b[0] += (1 - fade) / blend.base_temperature;
  for (double& value : f0) value /= blend.base_temperature;
  const std::vector<double> p = SoftmaxOf(f), p0 = SoftmaxOf(f0);
  for (size_t c = 0; c < outputs; ++c) {
    const double expected = std::max(a[c] - r[c], 0.0);
    eta[c] = b[0] * std::log(p[c]) + b[1] * std::log(a[c] + blend.prior * p0[c]) +
             b[2] * std::log(expected + blend.prior * p0[c]) + b[3] * r[c];
  }
  return SoftmaxOf(eta);
}

// What explain says is what predict says, and its parts sum to it.
void ExpectLedger(const Predictor& predictor, std::span<const float> key,
                  std::span<const float> logits, std::span<const float> answer, float percentile) {
  PredictOptions options = predictor.DefaultOptions();
  options.unknown_rate = 0.25;
  const Result<Explanation> found = Explain(predictor, key, logits, options);
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_EQ(found->score, std::vector<float>(answer.begin(), answer.end()));
  EXPECT_EQ(found->probability, found->score);
  ASSERT_TRUE(found->distance.has_value());
  EXPECT_EQ(found->distance->percentile, percentile);
  EXPECT_EQ(found->distance->unknown, percentile >= 75);
  ASSERT_TRUE(found->parts.has_value());
  const std::vector<double> p = SoftmaxOf(found->eta);
  for (size_t c = 0; c < answer.size(); ++c) {
    EXPECT_NEAR(p[c], answer[c], 2e-6);
    const Explanation::Parts& parts = *found->parts;
    EXPECT_NEAR(parts.base[c] + parts.labels[c] + parts.expected[c] + parts.residual[c],
                found->eta[c], 1e-12);
    double sum = found->base[c], exact = 0;
    for (const Explanation::Line& line : found->lines) {
      sum += line.contribution[c];
      exact += line.exact[c];
    }
    EXPECT_NEAR(exact, parts.residual[c], 1e-5);
    EXPECT_NEAR(sum + found->rounding[c], found->eta[c], 1e-12);
    EXPECT_LT(std::abs(found->rounding[c]), 1e-4);
  }
}

TEST(Blend, IsItsDefinitionInEveryFormAndTheSameBitsEverywhere) {
  const fixtures::TemporaryFolder folder;
  const RowData data = MakeRows(kRows, kDim, kOutputs);
  std::vector<float> keys(data.keys.begin(), data.keys.begin() + kQueries * kDim);
  for (float& value : keys) value += 0.2f;
  const MatrixView queries(keys.data(), kQueries, kDim);
  const MatrixView logits(data.logits.data() + 7 * kOutputs, kQueries, kOutputs);
  std::vector<MemoryDescription> descriptions;
  for (MemoryDescription description : EveryDescription(kDim, kOutputs)) {
    if (description.task != Task::kClassification) continue;
    description.answer = Method::kBlend;
    for (const auto& make : {MakeBlend, MakeFormerBlend}) {
      description.blend = make(description.parameters.temperature);
      descriptions.push_back(description);
    }
  }
  bool flat = false, told_apart = false;
  for (const MemoryDescription& description : descriptions) {
    SCOPED_TRACE(NameOf(description));
    const std::string path =
        folder / (NameOf(description) + (description.blend->spreads.empty() ? "_former" : ""));
    fixtures::Write(path, description, data.view(description));
    const ResidualMemory memory = fixtures::Open(path);
    const Predictor predictor(memory);
    PredictOptions options = predictor.DefaultOptions();
    EXPECT_EQ(options.method, Method::kBlend);
    EXPECT_EQ(options.parameters, description.blend->parameters);
    Neighbors neighbors;
    ASSERT_TRUE(
        predictor.FindNeighbors(queries, options.parameters.k, {}, 1, nullptr, &neighbors).ok());
    std::vector<float> first;
    AtEverySimdLevel([&] {
      for (const int threads : {1, 3}) {
        options.threads = threads;
        std::vector<float> scores(kQueries * kOutputs);
        ASSERT_TRUE(predictor.Score(queries, logits, neighbors, options, scores).ok());
        if (first.empty()) first = scores;
        EXPECT_EQ(std::memcmp(first.data(), scores.data(), first.size() * sizeof(float)), 0);
      }
    });
    bool far = false, near = false;
    for (int64_t q = 0; q < kQueries; ++q) {
      const std::vector<double> expected =
          ReferenceBlend(memory, logits.row_span(q), neighbors.rows_of(q),
                         neighbors.distances_of(q), *description.blend);
      const auto got = std::span(first).subspan(static_cast<size_t>(q * kOutputs), kOutputs);
      EXPECT_NEAR(std::accumulate(got.begin(), got.end(), 0.0), 1, 1e-5);
      for (size_t c = 0; c < kOutputs; ++c) EXPECT_NEAR(got[c], expected[c], 1e-5);
      const float percentile = predictor.DistancePercentile(neighbors, q);
      ExpectLedger(predictor, queries.row_span(q), logits.row_span(q), got, percentile);
      far |= percentile > 99;
      near |= percentile < 90;
    }
    EXPECT_TRUE(far && near);  // the guard has been at work, and not everywhere
    if (description.blend->spreads.empty()) continue;
    BlendRow row(memory);
    for (int64_t q = 0; q < kQueries; ++q) {
      row.Load(logits.row_span(q), neighbors.rows_of(q), neighbors.distances_of(q),
               options.parameters, description.blend->prior, description.blend->base_temperature);
      flat |= row.gates().spread < description.blend->spreads[5];
      told_apart |= row.gates().spread > description.blend->spreads[5];
      // In parts, as it is explained, the same but for rounding.
      std::vector<float> parts(kOutputs);
      row.Answer(*description.blend, logits.row_span(q), parts);
      for (size_t c = 0; c < kOutputs; ++c) {
        EXPECT_NEAR(parts[c], first[static_cast<size_t>(q * kOutputs) + c], 2e-6);
      }
    }
  }
  EXPECT_TRUE(flat && told_apart);
}

TEST(Blend, OfRegressionAddsAShareOfTheMeanResidual) {
  const fixtures::TemporaryFolder folder;
  const RowData data = MakeRows(kRows, kDim, 4);
  MemoryDescription description = Small();
  description.task = Task::kRegression;
  description.form = ResidualForm::kDense;
  description.answer = Method::kBlend;
  description.blend = MakeBlend(description.parameters.temperature);
  description.blend->coefficients = {};
  description.blend->coefficients[kResidualPart][0] = 0.25f;
  description.blend->distances.assign(101, 1e6f);  // never far
  description.blend->spreads.clear();
  fixtures::Write(folder / "m", description, data.view(description));
  const ResidualMemory memory = fixtures::Open(folder / "m");
  const Predictor predictor(memory);
  const MatrixView keys(data.keys.data(), kQueries, kDim), base(data.logits.data(), kQueries, 4);
  std::vector<float> blended(kQueries * 4), resmem(kQueries * 4);
  PredictOptions options = predictor.DefaultOptions();
  ASSERT_TRUE(predictor.Predict(keys, base, options, blended).ok());
  options.method = Method::kResMem;
  ASSERT_TRUE(predictor.Predict(keys, base, options, resmem).ok());
  for (size_t i = 0; i < blended.size(); ++i) {
    EXPECT_NEAR(blended[i], base.data[i] + 0.25f * (resmem[i] - base.data[i]), 1e-5);
  }
}

TEST(Blend, FarFromEverythingIsTheBaseAtItsOwnTemperature) {
  const fixtures::TemporaryFolder folder;
  const RowData data = MakeRows(kRows, kDim, 4);
  MemoryDescription description = Small();
  description.answer = Method::kBlend;
  description.blend = MakeBlend(1.4f);
  fixtures::Write(folder / "m", description, data.view(description));
  const ResidualMemory memory = fixtures::Open(folder / "m");
  const Predictor predictor(memory);
  const std::vector<float> key = {1e4f, -1e4f, 0};
  const std::vector<float> logits = {3, -1e38f, 1, 3e38f};
  for (const std::vector<float>& f : {std::vector<float>{3, 2, 1, 0}, logits}) {
    std::vector<float> got(4), expected(4);
    ASSERT_TRUE(predictor
                    .Predict(MatrixView(key.data(), 1, 3), MatrixView(f.data(), 1, 4),
                             predictor.DefaultOptions(), got)
                    .ok());
    PredictOptions base = predictor.OptionsOf(Method::kBase);
    base.parameters.temperature = description.blend->base_temperature;
    ASSERT_TRUE(
        predictor.Predict(MatrixView(key.data(), 1, 3), MatrixView(f.data(), 1, 4), base, expected)
            .ok());
    for (size_t c = 0; c < 4; ++c) EXPECT_NEAR(got[c], expected[c], 1e-6);
  }
}

TEST(Blend, OfAMemoryThatHasNoneIsRefused) {
  const fixtures::TemporaryFolder folder;
  fixtures::Write(folder / "m", Small(), MakeRows(20, 3, 4).view(Small()));
  const ResidualMemory memory = fixtures::Open(folder / "m");
  const Predictor predictor(memory);
  EXPECT_EQ(predictor.DefaultOptions().method, Method::kResMem);
  std::vector<float> key(3), logits(4), scores(4);
  const Status status =
      predictor.Predict(MatrixView(key.data(), 1, 3), MatrixView(logits.data(), 1, 4),
                        predictor.OptionsOf(Method::kBlend), scores);
  EXPECT_EQ(status.code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(status.message().find("resmem tune"), std::string::npos);
}

TEST(Percentile, RunsFromZeroToAHundredAlsoWhereDistancesAreEqual) {
  Blend blend = MakeBlend(1);
  EXPECT_EQ(PercentileOf(blend, -1), 0);
  EXPECT_EQ(PercentileOf(blend, 1e9f), 100);
  EXPECT_NEAR(PercentileOf(blend, 0.012f * 37.5f), 37.5, 0.01);
  blend.spreads.clear();
  blend.distances.assign(101, 2.0f);
  EXPECT_EQ(PercentileOf(blend, 1), 0);
  EXPECT_EQ(PercentileOf(blend, 3), 100);
  // What lies as far away as every row that was seen is not unknown.
  EXPECT_EQ(PercentileOf(blend, 2), 0);
  EXPECT_EQ(FadeOf(blend, {.u = {}, .distance = 2, .neighbors = true}), 1);
  EXPECT_EQ(FadeOf(blend, {.u = {}, .distance = 2.5f, .neighbors = true}), 0);
}

TEST(Percentile, NeedsTheNeighborsThatItIsMeasuredBy) {
  const fixtures::TemporaryFolder folder;
  const RowData data = MakeRows(kRows, kDim, 4);
  MemoryDescription description = Small();
  description.blend = MakeBlend(1.4f);
  description.answer = Method::kBlend;
  fixtures::Write(folder / "m", description, data.view(description));
  const ResidualMemory memory = fixtures::Open(folder / "m");
  const Predictor predictor(memory);
  EXPECT_EQ(predictor.DistanceNeighbors(), 10);
  std::vector<float> keys(data.keys.begin(), data.keys.begin() + 20 * kDim);
  for (float& value : keys) value += 0.2f;
  const MatrixView queries(keys.data(), 20, kDim);
  Neighbors ten, three;
  ASSERT_TRUE(predictor.FindNeighbors(queries, 10, {}, 1, nullptr, &ten).ok());
  ASSERT_TRUE(predictor.FindNeighbors(queries, 3, {}, 1, nullptr, &three).ok());
  std::vector<float> by_ten(20), by_three(20), by_none(20), too_short(19);
  ASSERT_TRUE(predictor.DistancePercentiles(queries, ten, {}, 1, by_ten).ok());
  ASSERT_TRUE(predictor.DistancePercentiles(queries, three, {}, 1, by_three).ok());
  ASSERT_TRUE(predictor.DistancePercentiles(queries, {}, {}, 2, by_none).ok());
  EXPECT_EQ(by_three, by_ten);
  EXPECT_EQ(by_none, by_ten);
  EXPECT_EQ(predictor.DistancePercentile(ten, 4), by_ten[4]);
  EXPECT_EQ(predictor.DistancePercentile(three, 4), -1);
  EXPECT_EQ(predictor.DistancePercentiles(queries, ten, {}, 1, too_short).code(),
            ErrorCode::kInvalidArgument);
  // Explained by fewer, it is as far away as ever.
  PredictOptions options = predictor.OptionsOf(Method::kResMem);
  options.parameters.k = 2;
  const std::vector<float> logits(4);
  const Result<Explanation> found = Explain(predictor, queries.row_span(4), logits, options);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->lines.size(), 2u);
  EXPECT_EQ(found->distance->percentile, by_ten[4]);
  options.unknown_rate = 1.5;
  EXPECT_EQ(Explain(predictor, queries.row_span(4), logits, options).status().code(),
            ErrorCode::kInvalidArgument);
  options = predictor.OptionsOf(Method::kKnn);
  EXPECT_EQ(Explain(predictor, queries.row_span(4), logits, options).status().code(),
            ErrorCode::kUnsupported);
}

TEST(Percentile, IsUnknownFromTheRateOn) {
  for (const double rate : {0.0, 0.01, 0.05, 0.07, 0.1, 1.0}) {
    const auto least = static_cast<float>(100 - 100 * rate);
    EXPECT_TRUE(IsUnknown(least, rate)) << rate;
    EXPECT_FALSE(rate < 1 && IsUnknown(std::nextafter(least, 0.0f), rate)) << rate;
    EXPECT_TRUE(IsUnknown(-1, rate));  // no neighbor
  }
  EXPECT_FALSE(CheckUnknownRate(std::numeric_limits<double>::quiet_NaN()).ok());
}

TEST(Fade, IsOfDistanceTimesThatOfSpread) {
  const Blend blend = MakeBlend(1);
  const auto fade = [](const Blend& of, float distance, float spread) {
    return FadeOf(of, {.u = {}, .distance = distance, .spread = spread, .neighbors = true});
  };
  EXPECT_EQ(fade(blend, 0.5f, 1.2f), 1);
  EXPECT_NEAR(fade(blend, 0.5f, 0.5f + 0.05f * 2.5f), 0.5, 1e-4);
  EXPECT_NEAR(fade(blend, 0.012f * 97, 0.5f + 0.05f * 2.5f), 0.25, 1e-4);
  EXPECT_EQ(fade(blend, 0.5f, 0.49f), 0);
  EXPECT_EQ(fade(blend, 2, 5), 0);
  Blend before = blend;  // a memory that was tuned before anything but distance was looked at
  before.spreads.clear();
  EXPECT_EQ(fade(before, 0.5f, 0), 1);
  EXPECT_NEAR(fade(before, 0.012f * 94.5f, 0), 0.5, 1e-4);
  Blend alike = blend;  // rows of the same spread
  alike.spreads.assign(101, 2.0f);
  EXPECT_EQ(fade(alike, 0.5f, 2), 1);
  EXPECT_EQ(fade(alike, 0.5f, 1.9f), 0);
}

TEST(PortableLog, IsTheLogarithm) {
  for (float x = std::numeric_limits<float>::min(); x < 1e38f; x *= 1.37f) {
    const double expected = std::log(static_cast<double>(x));
    EXPECT_NEAR(PortableLog(x), expected, 6e-8 * std::abs(expected) + 1e-9) << x;
  }
  EXPECT_EQ(PortableLog(1.0f), 0);
  EXPECT_NEAR(PortableLog(0.37), std::log(0.37), 1e-15);
  EXPECT_NEAR(PortableLog(1e300), std::log(1e300), 1e-12);
}

}  // namespace
}  // namespace resmem
