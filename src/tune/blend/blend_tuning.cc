#include "tune/blend/blend_tuning.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "eval/statistics.h"
#include "kernels/vector_math.h"
#include "support/parallel.h"
#include "support/random.h"
#include "support/text.h"
#include "tune/blend/blend_fit.h"
#include "tune/blend/blend_search.h"

namespace resmem {
namespace {

constexpr double kLeastTemperature = 0.05, kLargestTemperature = 20;
constexpr double kRidges[] = {1e-2, 1e-3};
constexpr double kComparedTolerance = 1e-8;  // of fits that are only compared

struct Slopes {
  bool wanted = false;
  double ridge = 0;
};

// A blend is fitted once for each fold; more of them would take long and tell little more.
constexpr int64_t kMostBlendFolds = 20;

class BlendTuner {
 public:
  BlendTuner(const ResidualMemory& memory, const ValidationRows& rows, const TuneOptions& options,
             int64_t folds)
      : memory_(memory),
        options_(options),
        given_rows_(rows.rows),
        sample_(memory, rows, options.fit_megabytes << 20),
        folds_(std::min(folds, kMostBlendFolds)) {
    search_options_.objective = options.objective;
    search_options_.fpr_limit = options.fpr_limit;
    if (options.method == Method::kLogitBoost) {
      search_options_.parts = {true, false, false, true};
    }
    search_options_.largest_k = std::min(rows.largest_k, memory.rows());
    search_options_.typical_distance = rows.typical_distance;
    search_options_.grid = options.grid;
    search_options_.threads = ResolveThreads(options.threads);
    search_options_.progress = options.progress;
  }

  Result<BlendTrial> Run() {
    trial_.regression = sample_.regression();
    tuning_.method = options_.method;
    tuning_.rows = sample_.rows();
    tuning_.folds = folds_;
    MakeSubsets();
    if (!EnoughToFit()) return std::move(trial_);
    FitBase();
    BlendSearch search(memory_.description(), search_options_, &sample_, split_, base_right_,
                       base_temperature_);
    inner_losses_.resize(split_.subsets.size());
    for (int64_t row = 0; row < sample_.rows(); ++row) trial_.folds.push_back(FoldOf(row));
    trial_.slices = sample_.slices();
    // The fold's rows by everything that was chosen and fitted without them.
    losses_.resize(static_cast<size_t>(sample_.rows()));
    right_.resize(losses_.size());
    for (size_t fold = 1; fold < split_.subsets.size(); ++fold) {
      const Blend blend = Fit(&search, fold, nullptr);
      if (search.cancelled()) return Status(ErrorCode::kCancelled, "stopped while tuning");
      JudgeFold(blend, fold - 1);
    }
    Slopes slopes;
    tuning_.blend = Fit(&search, 0, &slopes);
    if (search.cancelled()) return Status(ErrorCode::kCancelled, "stopped while tuning");
    tuning_.slopes = slopes.wanted;
    tuning_.ridge = slopes.ridge;
    tuning_.points = search.points();
    return std::move(trial_);
  }

 private:
  int64_t FoldOf(int64_t row) const { return sample_.fold(row) % folds_; }

  // All rows first, then all but each fold.
  void MakeSubsets() {
    split_.folds.resize(static_cast<size_t>(folds_));
    split_.subsets.resize(static_cast<size_t>(folds_) + 1);
    for (int64_t row = 0; row < sample_.rows(); ++row) {
      const auto own = static_cast<size_t>(FoldOf(row));
      split_.folds[own].push_back(row);
      for (size_t subset = 0; subset < split_.subsets.size(); ++subset) {
        if (subset != own + 1) split_.subsets[subset].push_back(row);
      }
    }
  }

  bool EnoughToFit() {
    std::set<int32_t> labels;
    for (int64_t row = 0; row < sample_.rows(); ++row) labels.insert(sample_.label(row));
    if (sample_.rows() < TuneOptions::kFewestRows) {
      tuning_.reason = Text("only ", sample_.rows(), " of ", given_rows_, " held-out rows fit ",
                            options_.fit_megabytes, " MB, a blend takes at least ",
                            TuneOptions::kFewestRows, ": give more (--fit-memory)");
    } else if (!sample_.regression() && labels.size() < 2) {
      tuning_.reason =
          "all held-out rows have one label: a blend fitted on them would only learn "
          "to give it, nothing was fitted";
    } else {
      return true;
    }
    return false;
  }

  // T0, of all rows for the prior, and without each fold for the comparison.
  void FitBase() {
    base_right_.resize(static_cast<size_t>(sample_.rows()));
    base_losses_.resize(base_right_.size());
    scaled_losses_.resize(base_right_.size());
    // k = 0: the base's part is all there is.
    sample_.Load({{0, 1.0f, memory_.description().parameters.temperature}, 1}, 1, Threads());
    if (sample_.regression()) {
      for (size_t i = 0; i < base_losses_.size(); ++i) {
        base_losses_[i] = scaled_losses_[i] = sample_.errors(static_cast<int64_t>(i)).ee;
      }
      return;
    }
    Blend blend = sample_.Describe({}, 1);
    BlendFitOptions options;
    options.parts = {true, false, false, false};
    options.constant_ridge = 0;
    options.threads = Threads();
    BlendCoefficients start{};
    start[kBasePart][0] = 1;
    const std::vector<BlendFit> fits = FitSplit(sample_, blend, split_, options, start);
    std::vector<float> scratch;
    for (size_t subset = 0; subset < fits.size(); ++subset) {
      const double inverse = std::clamp(fits[subset].coefficients[kBasePart][0],
                                        1 / kLargestTemperature, 1 / kLeastTemperature);
      blend.base_temperature = static_cast<float>(1 / inverse);
      if (subset == 0) {
        base_temperature_ = blend.base_temperature;
        continue;
      }
      for (const int64_t row : split_.folds[subset - 1]) {
        // Without neighbors a blend is the base at its temperature.
        scaled_losses_[static_cast<size_t>(row)] = JudgeBlend(sample_, blend, row, &scratch).loss;
      }
    }
    blend.base_temperature = 1;
    for (int64_t row = 0; row < sample_.rows(); ++row) {
      const BlendedRow base = JudgeBlend(sample_, blend, row, &scratch);
      base_losses_[static_cast<size_t>(row)] = base.loss;
      base_right_[static_cast<size_t>(row)] = base.answer == sample_.label(row);
    }
  }

  BlendFit FitRows(const Blend& blend, std::span<const int64_t> rows, const Slopes& slopes,
                   const BlendCoefficients& start, BlendFitOptions options = {}) const {
    options.parts = search_options_.parts;
    options.slopes = slopes.wanted;
    options.ridge = slopes.ridge;
    options.threads = Threads();
    return sample_.regression() ? FitShrinkage(sample_, blend, rows, options)
                                : FitBlend(sample_, blend, rows, options, start);
  }

  // By two folds of the subset: constants alone, or slopes and with which ridge.
  Slopes ChooseSlopes(const Blend& blend, size_t subset, const BlendCoefficients& constants) {
    const std::vector<int64_t>& rows = split_.subsets[subset];
    std::vector<int64_t> order = rows;
    Random random(options_.seed, 2);
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.Below(i)]);
    const auto half = static_cast<std::ptrdiff_t>(order.size() / 2);
    const std::vector<int64_t> halves[2] = {{order.begin(), order.begin() + half},
                                            {order.begin() + half, order.end()}};
    Slopes best;
    double least = HalvesLoss(blend, halves, best, constants);
    for (const double ridge : kRidges) {
      if (std::ssize(rows) < TuneOptions::kFewestRowsForSlopes) break;
      const Slopes candidate{true, ridge};
      const double loss = HalvesLoss(blend, halves, candidate, constants);
      if (!(loss < least)) continue;
      least = loss;
      best = candidate;
    }
    inner_losses_[subset] = least / static_cast<double>(rows.size());
    return best;
  }

  double HalvesLoss(const Blend& blend, const std::vector<int64_t> (&halves)[2],
                    const Slopes& slopes, const BlendCoefficients& start) const {
    double total = 0;
    std::vector<float> scratch;
    for (size_t half = 0; half < 2; ++half) {
      Blend fitted = blend;
      BlendFitOptions options;
      options.converged = kComparedTolerance;
      SetCoefficients(FitRows(blend, halves[half], slopes, start, options).coefficients, &fitted);
      for (const int64_t row : halves[1 - half]) {
        total += JudgeBlend(sample_, fitted, row, &scratch).loss;
      }
    }
    return total;
  }

  static void SetCoefficients(const BlendCoefficients& from, Blend* to) {
    for (size_t j = 0; j < Blend::kParts; ++j) {
      for (size_t m = 0; m <= Blend::kGates; ++m) {
        to->coefficients[j][m] = static_cast<float>(from[j][m]);
      }
    }
  }

  Blend Fit(BlendSearch* search, size_t subset, Slopes* slopes) {
    const BlendPoint point = search->Walk(subset);
    const BlendCoefficients constants = search->Constants(point, subset);
    search->Load(point);
    Blend blend = sample_.Describe(point, base_temperature_);
    const Slopes chosen = ChooseSlopes(blend, subset, constants);
    SetCoefficients(FitRows(blend, split_.subsets[subset], chosen, constants).coefficients, &blend);
    if (slopes != nullptr) *slopes = chosen;
    return blend;
  }

  // The sample is at the blend's point.
  void JudgeFold(const Blend& blend, size_t fold) {
    std::vector<float> scratch;
    for (const int64_t row : split_.folds[fold]) {
      const BlendedRow judged = JudgeBlend(sample_, blend, row, &scratch);
      losses_[static_cast<size_t>(row)] = judged.loss;
      right_[static_cast<size_t>(row)] = judged.answer == sample_.label(row);
    }
  }

  int Threads() const { return search_options_.threads; }

  const ResidualMemory& memory_;
  const TuneOptions& options_;
  const int64_t given_rows_;
  BlendSample sample_;
  const int64_t folds_;
  BlendSearchOptions search_options_;
  BlendTrial trial_;
  BlendTuning& tuning_ = trial_.tuning;
  std::vector<double>&base_losses_ = trial_.base_losses, &scaled_losses_ = trial_.scaled_losses,
  &losses_ = trial_.losses, &inner_losses_ = trial_.inner_losses;
  std::vector<bool>&base_right_ = trial_.base_right, &right_ = trial_.right;
  BlendSplit split_;
  float base_temperature_ = 1;
};

// Why cross-validation does not support the blend; empty where it does.
std::string Obstacle(const TuneOptions& options, const BlendTrial& trial) {
  const BlendTuning& tuning = trial.tuning;
  const Interval& nll = tuning.nll_interval;
  const PairedGain& gain = tuning.gain;
  const auto points = [](double share) { return Text(std::round(share * 1e4) / 100); };
  const std::string by_nll =
      Text(trial.regression ? "the squared error" : "the NLL", " falls by ", tuning.nll_gain,
           " (95 % interval ", nll.low, " to ", nll.high, ")");
  const std::string by_accuracy =
      Text("accuracy changes by ", points(gain.gain), " points (95 % interval ",
           points(gain.interval.low), " to ", points(gain.interval.high), ")");
  if (trial.regression || options.objective == Objective::kNll) {
    if (!(nll.low > 0)) return "cross-validation does not support the blend: " + by_nll;
    if (!trial.regression && gain.interval.high < 0) {
      return "the blend would buy its NLL with right answers: " + by_accuracy;
    }
    return "";
  }
  if (options.objective == Objective::kTprUnderFpr && !(gain.fpr < options.fpr_limit)) {
    return Text("cross-validation harms ", points(gain.fpr), " % of the rows, which is not below ",
                points(options.fpr_limit), " %");
  }
  if (!(gain.interval.low > 0)) {
    return "cross-validation does not support the blend: " + by_accuracy;
  }
  if (nll.high < 0) return "the blend would buy its right answers with NLL: " + by_nll;
  return "";
}

}  // namespace

void DecideBlend(const TuneOptions& options, BlendTrial* trial) {
  BlendTuning& tuning = trial->tuning;
  const auto count = std::ssize(trial->losses);
  const auto rows = static_cast<double>(count);
  int64_t fixed = 0, harmed = 0, both = 0;
  std::vector<double> nll_gains, gains;
  tuning.base_nll = tuning.scaled_nll = tuning.nll = 0;
  for (size_t i = 0; i < trial->losses.size(); ++i) {
    tuning.base_nll += trial->base_losses[i] / rows;
    tuning.scaled_nll += trial->scaled_losses[i] / rows;
    tuning.nll += trial->losses[i] / rows;
    fixed += trial->right[i] && !trial->base_right[i] ? 1 : 0;
    harmed += !trial->right[i] && trial->base_right[i] ? 1 : 0;
    both += trial->right[i] && trial->base_right[i] ? 1 : 0;
    nll_gains.push_back(trial->scaled_losses[i] - trial->losses[i]);
    gains.push_back(static_cast<double>(trial->right[i]) -
                    static_cast<double>(trial->base_right[i]));
  }
  tuning.nll_gain = tuning.scaled_nll - tuning.nll;
  tuning.nll_interval = MeanInterval(nll_gains, trial->slices);
  if (!trial->regression) {
    tuning.gain = MakePairedGain(fixed, harmed, both, count - fixed - harmed - both);
    if (!trial->slices.empty()) tuning.gain.interval = MeanInterval(gains, trial->slices);
  }
  tuning.reason = Obstacle(options, *trial);
  tuning.adopted = tuning.reason.empty();
}

Result<BlendTrial> TuneBlend(const ResidualMemory& memory, const ValidationRows& rows,
                             const TuneOptions& options, int64_t folds) {
  const auto start = std::chrono::steady_clock::now();
  BlendTuner tuner(memory, rows, options, folds);
  RESMEM_ASSIGN_OR_RETURN(BlendTrial trial, tuner.Run());
  trial.tuning.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return trial;
}

}  // namespace resmem
