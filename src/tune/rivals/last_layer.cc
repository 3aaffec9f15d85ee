#include "tune/rivals/last_layer.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>

#include "eval/calibration.h"
#include "kernels/vector_math.h"
#include "support/parallel.h"
#include "support/random.h"

namespace resmem {
namespace {

// Rows x weights of one pass over the rows.
constexpr int64_t kMostWork = int64_t{1} << 25;
constexpr int kLayerSteps = 40, kLayerMemory = 8, kLayerHalvings = 20, kMostRidges = 8;
constexpr double kOffsetRidge = 1e-4, kScaleRidge = 1e-4, kLayerConverged = 1e-6;

// Rows with their keys scaled to mean 0 and deviation 1.
struct LayerRows {
  int64_t dim = 0, classes = 0;
  std::vector<float> keys, logits;  // rows x dim, rows x classes
  std::vector<int32_t> labels;
  std::vector<double> means, deviations;  // of the keys

  int64_t count() const { return std::ssize(labels); }
};

LayerRows Gather(const ValidationRows& rows) {
  LayerRows gathered;
  gathered.classes = rows.blocks.front().outputs;
  gathered.dim = rows.blocks.front().dim;
  const int64_t most =
      std::max<int64_t>(kMostWork / (gathered.dim * gathered.classes), TuneOptions::kFewestRows);
  const int64_t step = (rows.rows + most - 1) / most;
  int64_t number = 0;
  for (const ValidationBlock& block : rows.blocks) {
    for (int64_t q = 0; q < block.count(); ++q) {
      if (number++ % step != 0) continue;
      const auto key = block.key_values.begin() + q * block.dim;
      gathered.keys.insert(gathered.keys.end(), key, key + block.dim);
      const std::span<const float> logits = block.logits().row_span(q);
      gathered.logits.insert(gathered.logits.end(), logits.begin(), logits.end());
      gathered.labels.push_back(block.labels[static_cast<size_t>(q)]);
    }
  }
  const auto dim = static_cast<size_t>(gathered.dim);
  gathered.means.resize(dim);
  gathered.deviations.resize(dim);
  const auto count = static_cast<double>(gathered.count());
  for (size_t d = 0; d < dim; ++d) {
    double sum = 0, squares = 0;
    for (size_t i = d; i < gathered.keys.size(); i += dim) sum += gathered.keys[i];
    const double mean = sum / count;
    for (size_t i = d; i < gathered.keys.size(); i += dim) {
      squares += (gathered.keys[i] - mean) * (gathered.keys[i] - mean);
    }
    const double deviation = std::sqrt(squares / count);
    gathered.means[d] = mean;
    // A value that never changes tells nothing.
    gathered.deviations[d] = deviation > 1e-6 * (1e-6 + std::abs(mean)) ? deviation : 0;
    for (size_t i = d; i < gathered.keys.size(); i += dim) {
      gathered.keys[i] =
          gathered.deviations[d] > 0
              ? static_cast<float>((gathered.keys[i] - mean) / gathered.deviations[d])
              : 0.0f;
    }
  }
  return gathered;
}

// W (dim x classes), offset (classes), scale.
using Theta = std::vector<double>;

class LayerLoss {
 public:
  LayerLoss(const LayerRows& rows, std::vector<int64_t> chosen, double ridge, int threads)
      : rows_(rows),
        chosen_(std::move(chosen)),
        ridge_(ridge),
        threads_(threads),
        errors_(chosen_.size() * static_cast<size_t>(rows.classes)),
        losses_(chosen_.size()),
        slopes_(chosen_.size()),
        sums_(size() - 1) {}

  size_t size() const { return static_cast<size_t>(rows_.dim * rows_.classes + rows_.classes + 1); }

  double At(const Theta& theta, Theta* gradient) {
    const auto classes = static_cast<size_t>(rows_.classes), dim = static_cast<size_t>(rows_.dim);
    weights_.assign(theta.begin(), theta.end() - 1);
    const auto scale = static_cast<float>(theta.back());
    const auto judge = [&](int64_t begin, int64_t end, int) {
      for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
        float* const p = &errors_[i * classes];
        losses_[i] = Score(chosen_[i], weights_, scale, p);
        const auto label = static_cast<size_t>(rows_.labels[static_cast<size_t>(chosen_[i])]);
        p[label] -= 1;
        const float* const logits = &rows_.logits[static_cast<size_t>(chosen_[i]) * classes];
        slopes_[i] = 0;
        for (size_t c = 0; c < classes; ++c) {
          slopes_[i] += static_cast<double>(p[c]) * static_cast<double>(logits[c]);
        }
      }
    };
    ParallelFor(threads_, std::ssize(chosen_), 16, std::cref(judge));
    const double share = 1 / static_cast<double>(chosen_.size());
    gradient->assign(size(), 0);
    // One line of the weights after the other, each over the rows in their order.
    std::fill(sums_.begin(), sums_.end(), 0.0f);
    const auto add = [&](int64_t begin, int64_t end, int) {
      for (auto d = static_cast<size_t>(begin); d < static_cast<size_t>(end); ++d) {
        for (size_t i = 0; i < chosen_.size(); ++i) {
          const float z = d == dim ? 1.0f : rows_.keys[static_cast<size_t>(chosen_[i]) * dim + d];
          AddScaled(z, &errors_[i * classes], rows_.classes, &sums_[d * classes]);
        }
        for (size_t c = 0; c < classes; ++c) {
          (*gradient)[d * classes + c] = static_cast<double>(sums_[d * classes + c]) * share;
        }
      }
    };
    ParallelFor(threads_, rows_.dim + 1, 1, std::cref(add));
    double value = 0;
    for (size_t i = 0; i < losses_.size(); ++i) {
      value += losses_[i] * share;
      gradient->back() += slopes_[i] * share;
    }
    for (size_t i = 0; i < theta.size(); ++i) {
      const bool last = i + 1 == theta.size();
      const double ridge = last ? kScaleRidge : i < dim * classes ? ridge_ : kOffsetRidge;
      const double away = last ? theta[i] - 1 : theta[i];
      value += ridge * away * away;
      (*gradient)[i] += 2 * ridge * away;
    }
    return value;
  }

  // Probabilities of a row; returns its negative log-likelihood.
  double Score(int64_t row, const std::vector<float>& weights, float scale, float* p) const {
    const auto classes = static_cast<size_t>(rows_.classes), dim = static_cast<size_t>(rows_.dim);
    const auto at = static_cast<size_t>(row);
    const float* const logits = &rows_.logits[at * classes];
    const float* const offset = &weights[dim * classes];
    for (size_t c = 0; c < classes; ++c) p[c] = scale * logits[c] + offset[c];
    for (size_t d = 0; d < dim; ++d) {
      AddScaled(rows_.keys[at * dim + d], &weights[d * classes], rows_.classes, p);
    }
    Softmax(p, rows_.classes, 1.0f, p);
    bool floored = false;
    return NegativeLog(p[static_cast<size_t>(rows_.labels[at])], &floored);
  }

 private:
  const LayerRows& rows_;
  const std::vector<int64_t> chosen_;
  const double ridge_;
  const int threads_;
  // Of At(), which is asked hundreds of times.
  std::vector<float> errors_;  // p - onehot of each chosen row
  std::vector<double> losses_, slopes_;
  std::vector<float> weights_, sums_;
};

double LayerDot(const Theta& a, const Theta& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// L-BFGS with step halving: it never leaves a point for a worse one.
Theta MinimizeLayer(LayerLoss* loss, Theta theta) {
  struct Pair {
    Theta step, change;
    double inverse;
  };
  std::deque<Pair> pairs;
  Theta gradient, next_gradient;
  double value = loss->At(theta, &gradient);
  for (int iteration = 0; iteration < kLayerSteps; ++iteration) {
    Theta direction = gradient;
    std::vector<double> alphas(pairs.size());
    for (size_t i = pairs.size(); i-- > 0;) {
      alphas[i] = pairs[i].inverse * LayerDot(pairs[i].step, direction);
      for (size_t j = 0; j < direction.size(); ++j) direction[j] -= alphas[i] * pairs[i].change[j];
    }
    if (!pairs.empty()) {
      const Pair& last = pairs.back();
      const double unit = 1 / (last.inverse * LayerDot(last.change, last.change));
      for (double& one : direction) one *= unit;
    }
    for (size_t i = 0; i < pairs.size(); ++i) {
      const double beta = pairs[i].inverse * LayerDot(pairs[i].change, direction);
      for (size_t j = 0; j < direction.size(); ++j) {
        direction[j] += (alphas[i] - beta) * pairs[i].step[j];
      }
    }
    const double promise = LayerDot(direction, gradient);
    if (!(promise > kLayerConverged * std::max(std::abs(value), 1e-3))) break;
    double share = 1, next = 0;
    Theta moved = theta;
    int halvings = 0;
    for (; halvings < kLayerHalvings; ++halvings, share /= 2) {
      for (size_t j = 0; j < theta.size(); ++j) moved[j] = theta[j] - share * direction[j];
      next = loss->At(moved, &next_gradient);
      if (next < value - 1e-4 * share * promise) break;
    }
    if (halvings == kLayerHalvings) break;
    Pair pair{moved, next_gradient, 0};
    for (size_t j = 0; j < theta.size(); ++j) {
      pair.step[j] -= theta[j];
      pair.change[j] -= gradient[j];
    }
    const double curvature = LayerDot(pair.step, pair.change);
    if (curvature > 0) {
      pair.inverse = 1 / curvature;
      pairs.push_back(std::move(pair));
      if (pairs.size() > kLayerMemory) pairs.pop_front();
    }
    theta = std::move(moved);
    std::swap(gradient, next_gradient);
    value = next;
  }
  return theta;
}

class LayerTuner {
 public:
  LayerTuner(const ValidationRows& rows, const TuneOptions& options)
      : rows_(Gather(rows)), threads_(ResolveThreads(options.threads)) {
    std::vector<int64_t> order(static_cast<size_t>(rows_.count()));
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
    Random random(options.seed, 3);
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.Below(i)]);
    for (size_t i = 0; i < order.size(); ++i) halves_[i % 2].push_back(order[i]);
    all_ = std::move(order);
  }

  LastLayerFit Run() {
    Theta start(static_cast<size_t>(rows_.dim * rows_.classes + rows_.classes + 1));
    start.back() = 1;
    LastLayerFit fit;
    fit.ridge = 1e-2;
    Theta thetas[2] = {start, start};
    fit.judged = Judge(fit.ridge, thetas);
    // Towards less, then towards more, as long as it gets better: no edge stops it.
    for (const double factor : {0.1, 10.0}) {
      bool moved = false;
      for (int i = 0; i < kMostRidges; ++i) {
        Theta trial[2] = {thetas[0], thetas[1]};
        const RivalSums judged = Judge(fit.ridge * factor, trial);
        if (!(judged.loss < fit.judged.loss)) break;
        fit.judged = judged;
        fit.ridge *= factor;
        std::swap(thetas, trial);
        moved = true;
      }
      if (moved) break;
    }
    LayerLoss loss(rows_, all_, fit.ridge, threads_);
    fit.layer = Unscaled(MinimizeLayer(&loss, thetas[0]));
    return fit;
  }

 private:
  // Each half by the other's fit, which begins at thetas and is left there.
  RivalSums Judge(double ridge, Theta (&thetas)[2]) {
    RivalSums sums;
    std::vector<float> p(static_cast<size_t>(rows_.classes));
    for (size_t half = 0; half < 2; ++half) {
      LayerLoss loss(rows_, halves_[half], ridge, threads_);
      thetas[half] = MinimizeLayer(&loss, thetas[half]);
      const std::vector<float> weights(thetas[half].begin(), thetas[half].end() - 1);
      for (const int64_t row : halves_[1 - half]) {
        const auto at = static_cast<size_t>(row);
        sums.loss += loss.Score(row, weights, static_cast<float>(thetas[half].back()), p.data());
        const int32_t label = rows_.labels[at];
        const bool right = ArgMax(p.data(), rows_.classes) == label;
        const float* const logits = &rows_.logits[at * p.size()];
        const bool base_right = ArgMax(logits, rows_.classes) == label;
        ++sums.rows;
        sums.fixed += right && !base_right ? 1 : 0;
        sums.harmed += !right && base_right ? 1 : 0;
        sums.both_right += right && base_right ? 1 : 0;
      }
    }
    return sums;
  }

  // For keys as they are given.
  Rivals::LastLayer Unscaled(const Theta& theta) const {
    const auto classes = static_cast<size_t>(rows_.classes), dim = static_cast<size_t>(rows_.dim);
    Rivals::LastLayer layer;
    layer.scale = static_cast<float>(theta.back());
    layer.weights.resize(dim * classes);
    for (size_t c = 0; c < classes; ++c) {
      double offset = theta[dim * classes + c];
      for (size_t d = 0; d < dim; ++d) {
        if (rows_.deviations[d] == 0) continue;
        const double weight = theta[d * classes + c] / rows_.deviations[d];
        layer.weights[d * classes + c] = static_cast<float>(weight);
        offset -= weight * rows_.means[d];
      }
      layer.offset.push_back(static_cast<float>(offset));
    }
    return layer;
  }

  const LayerRows rows_;
  const int threads_;
  std::vector<int64_t> all_, halves_[2];
};

}  // namespace

std::optional<LastLayerFit> FitLastLayer(const ValidationRows& rows, const TuneOptions& options) {
  const ValidationBlock& first = rows.blocks.front();
  if (rows.rows < TuneOptions::kFewestRows || first.key_values.empty() ||
      first.dim > Rivals::LastLayer::kMostWeights / first.outputs) {
    return std::nullopt;
  }
  return LayerTuner(rows, options).Run();
}

}  // namespace resmem
