#include "predict/blend_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "kernels/every_simd_level.h"
#include "support/random.h"

namespace resmem {
namespace {

constexpr int64_t kLengths[] = {1, 2, 3, 7, 8, 10, 15, 16, 17, 31, 33, 100, 1000};

std::vector<float> Draw(int64_t n, float scale, uint64_t seed) {
  Random random(seed);
  std::vector<float> values(static_cast<size_t>(n));
  for (float& value : values) value = scale * static_cast<float>(random.Normal());
  return values;
}

TEST(BlendKernels, LogIsWithinTwoUnits) {
  std::vector<float> x;
  for (float value = 1.2e-38f; value < 3e38f; value *= 1.0137f) x.push_back(value);
  for (float value = 0.5f; value < 2; value += 1e-4f) x.push_back(value);
  std::vector<float> out(x.size());
  AtEverySimdLevel([&] {
    Log(x.data(), std::ssize(x), out.data());
    for (size_t i = 0; i < x.size(); ++i) {
      const double truth = std::log(double{x[i]});
      const float near = static_cast<float>(std::abs(truth));
      const double unit = std::nextafter(near, INFINITY) - near;
      EXPECT_LE(std::abs(out[i] - truth), 2 * unit) << x[i];
    }
  });
}

// What every function gives, one after the other, of n classes.
std::vector<float> All(int64_t n) {
  const auto size = static_cast<size_t>(n);
  const std::vector<float> logits = Draw(n, 5, 1), residual = Draw(n, 0.1f, 2);
  std::vector<float> sum = Draw(n, 0.3f, 3), shifted(size), p(size), log_p(size), mixture(size),
                     eta(size);
  for (size_t i = 0; i < size; i += 3) sum[i] = 0;
  const float spread = BaseLogs(logits.data(), n, 1.3f, shifted.data(), p.data(), log_p.data());
  LogMixture(sum.data(), 0.7f, p.data(), log_p.data(), n, mixture.data());
  const float b[] = {0.8f, 0.3f, -0.2f, 1.5f};
  const float* const parts[] = {shifted.data(), mixture.data(), log_p.data(), residual.data()};
  CombineParts(b, parts, n, eta.data());
  std::vector<float> all, scratch(size);
  for (const auto* values : {&shifted, &p, &log_p, &mixture, &eta}) {
    all.insert(all.end(), values->begin(), values->end());
  }
  EtaTerms terms;
  std::ranges::copy(b, terms.b);
  terms.prior = 0.7f;
  terms.base_temperature = 1.3f;
  terms.shape = BaseExponentials(logits.data(), n, 1.3f, scratch.data());
  terms.scale = 0.5f;
  std::vector<float> twice = residual, at_once(size);
  for (float& value : twice) value *= 2;
  EtaWithoutLabels(terms, logits.data(), scratch.data(), n, twice.data(), at_once.data());
  EXPECT_EQ(twice, std::vector<float>(size));
  all.insert(all.end(), at_once.begin(), at_once.end());
  all.push_back(terms.shape.spread);
  all.push_back(spread);
  return all;
}

TEST(BlendKernels, AreWhatTheirNamesSay) {
  for (const int64_t n : kLengths) {
    SCOPED_TRACE(n);
    const std::vector<float> all = All(n);
    const auto at = [&](int64_t array, int64_t i) {
      return double{all[static_cast<size_t>(array * n + i)]};
    };
    const std::vector<float> logits = Draw(n, 5, 1), residual = Draw(n, 0.1f, 2),
                             sums = Draw(n, 0.3f, 3);
    double largest = -1e9, total = 0;
    for (const float logit : logits) largest = std::max(largest, double{logit});
    for (const float logit : logits) total += std::exp((logit - largest) / 1.3f);
    double mean = 0, variance = 0;
    for (const float logit : logits) mean += logit / static_cast<double>(n);
    for (const float logit : logits) {
      variance += (logit - mean) * (logit - mean) / static_cast<double>(n);
    }
    EXPECT_NEAR(all.back(), std::sqrt(variance), 1e-4);
    EXPECT_EQ(all[all.size() - 2], all.back());
    for (int64_t i = 0; i < n; ++i) {
      const auto c = static_cast<size_t>(i);
      const double log_p = (logits[c] - largest) / 1.3f - std::log(total), p = std::exp(log_p);
      const double sum = i % 3 == 0 ? 0 : std::max(0.0f, sums[c]);
      const double mixture = std::log(sum + 0.7f * p);
      EXPECT_NEAR(at(0, i), logits[c] - largest, 1e-5);
      EXPECT_NEAR(at(1, i), p, 1e-6);
      EXPECT_NEAR(at(2, i), log_p, 1e-5);
      EXPECT_NEAR(at(3, i), mixture, 1e-5);
      EXPECT_NEAR(at(4, i),
                  0.8 * (logits[c] - largest) + 0.3 * mixture - 0.2 * log_p + 1.5 * residual[c],
                  2e-5);
      const double without = std::log(0.7f) + log_p;
      const double expected = std::log(std::max(-residual[c], 0.0f) + 0.7f * p);
      EXPECT_NEAR(at(5, i),
                  0.8 * (logits[c] - largest) + 0.3 * without - 0.2 * expected + 1.5 * residual[c],
                  2e-5);
    }
  }
}

TEST(BlendKernels, SameBitsOnEveryInstructionSet) {
  std::map<int64_t, std::vector<float>> first;
  AtEverySimdLevel([&] {
    for (const int64_t n : kLengths) {
      const auto [found, added] = first.try_emplace(n, All(n));
      EXPECT_TRUE(added || All(n) == found->second) << n;
    }
  });
}

TEST(BlendKernels, ExtremesStayFinite) {
  const std::vector<float> logits = {3e38f, -3e38f, 0, 1e30f};
  std::vector<float> shifted(4), p(4), log_p(4), out(4);
  AtEverySimdLevel([&] {
    const float spread = BaseLogs(logits.data(), 4, 0.05f, shifted.data(), p.data(), log_p.data());
    // From the middle one, the last: 1e4, -1e4, -1e4, 0.
    EXPECT_NEAR(spread, 1e4 * std::sqrt(0.75 - 0.0625), 1);
    EXPECT_EQ(p, (std::vector<float>{1, 0, 0, 0}));
    const std::vector<float> sum = {0, 1e-40f, 0.5f, -1e-9f};
    LogMixture(sum.data(), 4, p.data(), log_p.data(), 4, out.data());
    for (const auto* values : {&shifted, &log_p, &out}) {
      for (const float value : *values) {
        EXPECT_TRUE(std::isfinite(value) && value >= -1.1e4f) << value;
      }
    }
    EXPECT_NEAR(out[2], std::log(0.5), 1e-6);
  });
}

}  // namespace
}  // namespace resmem
