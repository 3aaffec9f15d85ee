#include "search/approximate/codes/pair_codebook.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "search/approximate/codes/coded_vectors.h"
#include "support/parallel.h"
#include "support/random.h"

namespace resmem {
namespace {

constexpr int kWordRounds = 12;
constexpr int64_t kLanes = 16;  // points that are compared with all words together
constexpr float kLargestCode = 127;

// The 16 words of one pair of dimensions, by k-means.
class WordTrainer {
 public:
  // Points (first[i], second[i]); as many as a multiple of kLanes.
  WordTrainer(std::vector<float> first, std::vector<float> second, Random random)
      : first_(std::move(first)),
        second_(std::move(second)),
        random_(random),
        word_of_(first_.size()),
        firsts_(kWords * kLanes),
        seconds_(kWords * kLanes) {}

  void Train() {
    ChooseFirst();
    for (int round = 0; round < kWordRounds; ++round) Move();
  }

  float first(int64_t word) const { return firsts_[static_cast<size_t>(word * kLanes)]; }
  float second(int64_t word) const { return seconds_[static_cast<size_t>(word * kLanes)]; }

 private:
  void Put(int64_t word, float first, float second) {
    std::fill_n(firsts_.begin() + word * kLanes, kLanes, first);
    std::fill_n(seconds_.begin() + word * kLanes, kLanes, second);
  }

  // Each next one is a point, with a probability proportional to its squared distance from the
  // nearest before it.
  void ChooseFirst() {
    Put(0, first_[0], second_[0]);
    std::vector<float> nearest(first_.size(), std::numeric_limits<float>::max());
    for (int64_t word = 1; word < kWords; ++word) {
      double sum = 0;
      for (size_t i = 0; i < first_.size(); ++i) {
        const float a = first_[i] - first(word - 1), b = second_[i] - second(word - 1);
        nearest[i] = std::min(nearest[i], a * a + b * b);
        sum += nearest[i];
      }
      double left = random_.Uniform() * sum;
      size_t chosen = 0;
      while (chosen + 1 < nearest.size() && left >= nearest[chosen]) left -= nearest[chosen++];
      Put(word, first_[chosen], second_[chosen]);
    }
  }

  // Each word to the mean of the points that it is nearest to.
  void Move() {
    for (size_t i = 0; i < first_.size(); i += kLanes) {
      NearestWords(first_.data() + i, second_.data() + i, {firsts_.data(), seconds_.data()}, kLanes,
                   word_of_.data() + i);
    }
    double firsts[kWords] = {}, seconds[kWords] = {}, counts[kWords] = {};
    for (size_t i = 0; i < first_.size(); ++i) {
      firsts[word_of_[i]] += first_[i];
      seconds[word_of_[i]] += second_[i];
      counts[word_of_[i]] += 1;
    }
    for (int64_t word = 0; word < kWords; ++word) {
      if (counts[word] == 0) continue;
      Put(word, static_cast<float>(firsts[word] / counts[word]),
          static_cast<float>(seconds[word] / counts[word]));
    }
  }

  const std::vector<float> first_, second_;
  Random random_;
  std::vector<uint8_t> word_of_;
  std::vector<float> firsts_, seconds_;  // each word's, kLanes times
};

}  // namespace

float UnitScale(const float* vector, int64_t dim) {
  double sum = 0;
  for (int64_t i = 0; i < dim; ++i) sum += static_cast<double>(vector[i]) * vector[i];
  const double mean = std::sqrt(sum / static_cast<double>(dim));
  return mean < std::numeric_limits<float>::min() ? 0.0f : static_cast<float>(1 / mean);
}

PairCodebook::PairCodebook(std::span<const float> residuals, int64_t dim, uint64_t seed,
                           int threads) {
  const int64_t width = CodeWidth(dim), pairs = width / 2;
  tables_.assign(static_cast<size_t>(width * kWords), uint8_t{128});
  first_.resize(static_cast<size_t>(pairs * kWords));
  second_.resize(first_.size());
  const int64_t count = static_cast<int64_t>(residuals.size()) / dim;
  std::vector<float> units(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) units[i] = UnitScale(residuals.data() + i * dim, dim);
  // The last point is repeated to make them a multiple.
  const int64_t points = (count + kLanes - 1) / kLanes * kLanes;
  ParallelFor(threads, pairs, 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t pair = begin; pair < end; ++pair) {
      const int64_t code = pair / 4 * 8 + pair % 4;
      const auto column = [&](int64_t dimension) {
        std::vector<float> values(static_cast<size_t>(points));
        for (int64_t i = 0; i < points && dimension < dim; ++i) {
          const int64_t from = std::min(i, count - 1);
          values[i] = residuals[from * dim + dimension] * units[from];
        }
        return values;
      };
      if (code >= dim) continue;
      WordTrainer trainer(column(code), column(code + 4),
                          Random(seed, static_cast<uint64_t>(3 + pair)));
      trainer.Train();
      for (int64_t word = 0; word < kWords; ++word) {
        first_[word * pairs + pair] = trainer.first(word);
        second_[word * pairs + pair] = trainer.second(word);
      }
    }
  });
  float largest = 0;
  for (const auto* values : {&first_, &second_}) {
    for (const float value : *values) largest = std::max(largest, std::abs(value));
  }
  if (largest > 0) codes_a_unit_ = kLargestCode / largest;
  for (int64_t pair = 0; pair < pairs; ++pair) {
    for (int64_t word = 0; word < kWords; ++word) {
      const int64_t code = pair / 4 * 8 + pair % 4;
      const auto round = [&](float* value, int64_t i) {
        *value = std::nearbyint(*value * codes_a_unit_);
        tables_[i * kWords + word] = static_cast<uint8_t>(static_cast<int>(*value) + 128);
      };
      round(&first_[word * pairs + pair], code);
      round(&second_[word * pairs + pair], code + 4);
    }
  }
}

}  // namespace resmem
