#include "lm_training/optimizer.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "support/parallel.h"

namespace resmem {
namespace {

constexpr int64_t kTogether = 1 << 15;

class AdamW : public Optimizer {
 public:
  AdamW(const LmRecipe& recipe, const ParameterLayout& layout, int threads)
      : layout_(layout),
        weight_decay_(recipe.weight_decay),
        threads_(threads),
        mean_(static_cast<size_t>(layout.size)),
        square_(mean_.size()) {}

  void Step(std::span<const float> gradient, double factor, double rate, int64_t step,
            std::span<float> values) override {
    constexpr double kMeanShare = 0.9, kSquareShare = 0.98;
    constexpr float kEpsilon = 1e-9f;
    const auto number = static_cast<double>(step);
    const auto mean_factor = static_cast<float>(rate / (1 - std::pow(kMeanShare, number)));
    const auto square_factor = static_cast<float>(1 / (1 - std::pow(kSquareShare, number)));
    const auto scale = static_cast<float>(factor);
    for (const Parameter* parameter : layout_.All()) {
      const auto keep = static_cast<float>(parameter->rows > 1 ? 1 - rate * weight_decay_ : 1.0);
      ParallelFor(threads_, parameter->size(), kTogether, [&](int64_t begin, int64_t end, int) {
        const auto first = static_cast<size_t>(parameter->offset + begin);
        const float* g = gradient.data() + first;
        float *m = mean_.data() + first, *s = square_.data() + first, *v = values.data() + first;
        for (int64_t i = 0; i < end - begin; ++i) {
          const float slope = g[i] * scale;
          m[i] += static_cast<float>(1 - kMeanShare) * (slope - m[i]);
          s[i] += static_cast<float>(1 - kSquareShare) * (slope * slope - s[i]);
          v[i] = v[i] * keep - mean_factor * m[i] / (std::sqrt(s[i] * square_factor) + kEpsilon);
        }
      });
    }
  }
  NamedValues State() override { return {{"mean", mean_}, {"square", square_}}; }

 private:
  const ParameterLayout& layout_;
  double weight_decay_;
  int threads_;
  std::vector<float> mean_, square_;  // of the gradients
};

// Algorithm 4 of the paper, with its parameters.
class Adafactor : public Optimizer {
 public:
  Adafactor(const ParameterLayout& layout, int threads)
      : layout_(layout), threads_(threads), moments_(layout.All().size()) {
    const std::vector<const Parameter*> all = layout.All();
    for (size_t p = 0; p < all.size(); ++p) {
      moments_[p].rows.resize(static_cast<size_t>(all[p]->rows));
      moments_[p].columns.resize(static_cast<size_t>(all[p]->columns));
    }
  }

  void Step(std::span<const float> gradient, double factor, double rate, int64_t step,
            std::span<float> values) override {
    const double keep = 1 - std::pow(static_cast<double>(step), -0.8);
    const std::vector<const Parameter*> all = layout_.All();
    ParallelFor(threads_, std::ssize(all), 1, [&](int64_t p, int64_t, int) {
      const Parameter& parameter = *all[static_cast<size_t>(p)];
      const auto first = static_cast<size_t>(parameter.offset);
      const auto size = static_cast<size_t>(parameter.size());
      StepOne(parameter, gradient.subspan(first, size), factor, rate, keep,
              &moments_[static_cast<size_t>(p)], values.subspan(first, size));
    });
  }
  NamedValues State() override {
    NamedValues state;
    const std::vector<const Parameter*> all = layout_.All();
    for (size_t p = 0; p < all.size(); ++p) {
      state.emplace_back("rows of " + all[p]->name, moments_[p].rows);
      state.emplace_back("columns of " + all[p]->name, moments_[p].columns);
    }
    return state;
  }

 private:
  // Of a vector, the one row's moment stays 1 and the columns are the moments themselves.
  struct Moments {
    std::vector<float> rows, columns;
  };

  static void StepOne(const Parameter& parameter, std::span<const float> gradient, double factor,
                      double rate, double keep, Moments* moments, std::span<float> values) {
    constexpr double kLeastSquare = 1e-30, kLeastScale = 1e-3, kMostUpdate = 1;
    const auto rows = static_cast<size_t>(parameter.rows);
    const auto columns = static_cast<size_t>(parameter.columns);
    std::vector<double> column_sums(columns);
    double total = 0;
    for (size_t row = 0; row < rows; ++row) {
      double sum = 0;
      for (size_t column = 0; column < columns; ++column) {
        const double slope = gradient[row * columns + column] * factor;
        const double square = slope * slope + kLeastSquare;
        sum += square;
        column_sums[column] += square;
      }
      const double mean = sum / static_cast<double>(columns);
      moments->rows[row] = static_cast<float>(keep * moments->rows[row] + (1 - keep) * mean);
      total += moments->rows[row];
    }
    for (size_t column = 0; column < columns; ++column) {
      const double mean = column_sums[column] / static_cast<double>(rows);
      moments->columns[column] =
          static_cast<float>(keep * moments->columns[column] + (1 - keep) * mean);
    }
    const double row_mean = total / static_cast<double>(rows);
    const auto update = [&](size_t row, size_t column) {
      const double share = rows > 1 ? moments->rows[row] / row_mean : 1;
      return gradient[row * columns + column] * factor /
             std::sqrt(std::max(share * moments->columns[column], kLeastSquare));
    };
    double squares = 0, lengths = 0;
    for (size_t row = 0; row < rows; ++row) {
      for (size_t column = 0; column < columns; ++column) {
        const double u = update(row, column), v = values[row * columns + column];
        squares += u * u;
        lengths += v * v;
      }
    }
    const auto count = static_cast<double>(rows * columns);
    const double clip = std::max(1.0, std::sqrt(squares / count) / kMostUpdate);
    const double scale = std::max(kLeastScale, std::sqrt(lengths / count)) * rate / clip;
    for (size_t row = 0; row < rows; ++row) {
      for (size_t column = 0; column < columns; ++column) {
        values[row * columns + column] -= static_cast<float>(scale * update(row, column));
      }
    }
  }

  const ParameterLayout& layout_;
  int threads_;
  std::vector<Moments> moments_;
};

}  // namespace

std::unique_ptr<Optimizer> MakeOptimizer(const LmRecipe& recipe, const ParameterLayout& layout,
                                         int threads) {
  if (recipe.optimizer == LmOptimizer::kAdamW) {
    return std::make_unique<AdamW>(recipe, layout, threads);
  }
  return std::make_unique<Adafactor>(layout, threads);
}

double SquaredLength(std::span<const float> values, int threads) {
  const int64_t size = std::ssize(values);
  std::vector<double> sums(static_cast<size_t>((size + kTogether - 1) / kTogether));
  ParallelFor(threads, size, kTogether, [&](int64_t begin, int64_t end, int) {
    double sum = 0;
    for (int64_t i = begin; i < end; ++i) {
      const double value = values[static_cast<size_t>(i)];
      sum += value * value;
    }
    sums[static_cast<size_t>(begin / kTogether)] = sum;
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

}  // namespace resmem
