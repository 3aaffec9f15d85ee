#include "tune/rivals/rival_tuning.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "eval/calibration.h"
#include "kernels/vector_math.h"
#include "support/parallel.h"
#include "tune/rivals/last_layer.h"
#include "tune/rivals/rival_grid.h"

namespace resmem {
namespace {

constexpr double kLeastInverse = 0.05, kLargestInverse = 20;
constexpr double kTemperaturePriorRows = 0.05;  // as for the blend: BlendFitOptions
constexpr int kMostTemperatureSteps = 30;

// 1 / T by Newton's method, shared by the folds.
class TemperatureFit {
 public:
  TemperatureFit(const ValidationRows& rows, const TuneOptions& options)
      : rows_(rows), threads_(ResolveThreads(options.threads)) {
    for (const ValidationBlock& block : rows.blocks) {
      for (int64_t q = 0; q < block.count(); ++q) {
        places_.push_back({&block, q});
        folds_.push_back(static_cast<size_t>(block.folds[static_cast<size_t>(q)]));
      }
    }
  }

  float temperature() const { return static_cast<float>(1 / inverse_); }

  // Cross-validated where there are folds.
  RivalSums Run() {
    const auto folds = static_cast<size_t>(std::max<int64_t>(rows_.folds, 1));
    std::vector<Slope> slopes(folds);
    for (int step = 0; step < kMostTemperatureSteps; ++step) {
      slopes = SlopesAt(inverse_);
      Slope all;
      for (const Slope& fold : slopes) all.Add(fold, 1);
      const double moved = Stepped(all);
      const bool done = std::abs(moved - inverse_) < 1e-7;
      inverse_ = moved;
      if (done) break;
    }
    // A fold's own optimum is one step from the common one.
    std::vector<double> inverses(folds, inverse_);
    for (size_t fold = 0; fold < folds && folds > 1; ++fold) {
      Slope others;
      for (size_t other = 0; other < folds; ++other) {
        if (other != fold) others.Add(slopes[other], 1);
      }
      inverses[fold] = Stepped(others);
    }
    return Judged(inverses);
  }

 private:
  struct Place {
    const ValidationBlock* block;
    int64_t q;
  };
  struct Slope {
    double gradient = 0, curvature = 0;
    int64_t rows = 0;
    void Add(const Slope& other, int64_t count) {
      gradient += other.gradient;
      curvature += other.curvature;
      rows += count * other.rows;
    }
  };

  double Stepped(const Slope& slope) const {
    const double step = (slope.gradient + 2 * kTemperaturePriorRows * (inverse_ - 1)) /
                        (slope.curvature + 2 * kTemperaturePriorRows);
    // Half or double at most: the curvature may be far from constant.
    return std::clamp(std::clamp(inverse_ - step, inverse_ / 2, inverse_ * 2), kLeastInverse,
                      kLargestInverse);
  }

  // Probabilities of a row at 1 / T.
  static void Score(const Place& place, double inverse, std::vector<float>* p) {
    const std::span<const float> logits = place.block->logits().row_span(place.q);
    p->resize(logits.size());
    Softmax(logits.data(), std::ssize(logits), static_cast<float>(1 / inverse), p->data());
  }

  std::vector<Slope> SlopesAt(double inverse) const {
    std::vector<Slope> of_rows(places_.size());
    std::vector<std::vector<float>> scratch(static_cast<size_t>(threads_));
    ParallelFor(threads_, std::ssize(places_), 64, [&](int64_t begin, int64_t end, int worker) {
      std::vector<float>& p = scratch[static_cast<size_t>(worker)];
      for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
        Score(places_[i], inverse, &p);
        const std::span<const float> logits = places_[i].block->logits().row_span(places_[i].q);
        const auto label =
            static_cast<size_t>(places_[i].block->labels[static_cast<size_t>(places_[i].q)]);
        double mean = 0, square = 0;
        for (size_t c = 0; c < p.size(); ++c) {
          const double away = static_cast<double>(logits[c]) - static_cast<double>(logits[label]);
          mean += static_cast<double>(p[c]) * away;
          square += static_cast<double>(p[c]) * away * away;
        }
        of_rows[i] = {mean, square - mean * mean, 1};
      }
    });
    std::vector<Slope> slopes(static_cast<size_t>(std::max<int64_t>(rows_.folds, 1)));
    for (size_t i = 0; i < of_rows.size(); ++i) slopes[folds_[i]].Add(of_rows[i], 1);
    return slopes;
  }

  RivalSums Judged(const std::vector<double>& inverses) const {
    RivalSums sums;
    std::vector<float> p;
    for (size_t i = 0; i < places_.size(); ++i) {
      Score(places_[i], inverses[folds_[i]], &p);
      const int32_t label = places_[i].block->labels[static_cast<size_t>(places_[i].q)];
      bool floored = false;
      sums.loss += NegativeLog(p[static_cast<size_t>(label)], &floored);
      // A temperature changes no answer.
      sums.both_right += ArgMax(p.data(), std::ssize(p)) == label ? 1 : 0;
      ++sums.rows;
    }
    return sums;
  }

  const ValidationRows& rows_;
  const int threads_;
  std::vector<Place> places_;
  std::vector<size_t> folds_;
  double inverse_ = 1;
};

RivalTuning Described(Method method, Refit refit, const RivalSums& sums) {
  RivalTuning tuning;
  tuning.method = method;
  tuning.refit = refit;
  tuning.nll = sums.loss / static_cast<double>(std::max<int64_t>(sums.rows, 1));
  const int64_t both_wrong = sums.rows - sums.fixed - sums.harmed - sums.both_right;
  tuning.gain = MakePairedGain(sums.fixed, sums.harmed, sums.both_right, both_wrong);
  return tuning;
}

}  // namespace

Status TuneRivals(const ResidualMemory& memory, const ValidationRows& rows, const Grid& grid,
                  const TuneOptions& options, Tuning* tuning) {
  if (rows.rows < TuneOptions::kFewestRows) return {};
  const auto start = std::chrono::steady_clock::now();
  Rivals rivals;
  RivalGrid search(memory, rows, grid, options.grid.sigma.empty(), options);
  RESMEM_RETURN_IF_ERROR(search.Run());
  for (const Method method : {Method::kKnn, Method::kKnnLm}) {
    const RivalChoice choice = search.Choose(method);
    (method == Method::kKnn ? rivals.knn : rivals.knn_lm) = choice.chosen;
    RivalTuning described = Described(method, Refit::kNone, choice.judged);
    described.parameters = {choice.chosen.k, choice.chosen.sigma, 1};
    described.lambda = choice.chosen.lambda;
    tuning->rival_tunings.push_back(described);
  }
  TemperatureFit temperature(rows, options);
  RivalTuning scaled = Described(Method::kBase, Refit::kTemperature, temperature.Run());
  rivals.temperature = temperature.temperature();
  scaled.parameters = {0, 1, temperature.temperature()};
  tuning->rival_tunings.insert(tuning->rival_tunings.begin(), scaled);
  if (std::optional<LastLayerFit> fit = FitLastLayer(rows, options)) {
    RivalTuning described = Described(Method::kBase, Refit::kLastLayer, fit->judged);
    described.ridge = fit->ridge;
    rivals.last_layer = std::move(fit->layer);
    tuning->rival_tunings.insert(tuning->rival_tunings.begin() + 1, described);
  }
  tuning->rivals = std::move(rivals);
  tuning->rival_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return {};
}

}  // namespace resmem
