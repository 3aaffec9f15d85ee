#include "tune/blend/blend_search.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "support/text.h"
#include "tune/grid.h"

namespace resmem {
namespace {

// A step must improve the mean NLL, or squared error, by this share of it.  Less is not worth the
// extremes to which a flat optimum leads: coefficients that are large and cancel.
constexpr double kLeastGain = 1e-4;
constexpr int kMostPasses = 4;
// Of a fit on the way: far less than a step must bring.
constexpr double kWalkTolerance = 1e-8;

// start * ratio^i for i = -steps .. steps.
std::vector<float> Geometric(double start, double ratio, int steps) {
  std::vector<float> axis;
  for (int i = -steps; i <= steps; ++i) {
    axis.push_back(static_cast<float>(start * std::pow(ratio, i)));
  }
  return axis;
}

std::vector<BlendFit> FitShrinkages(const BlendSample& sample, const Blend& blend,
                                    const BlendSplit& split, const BlendFitOptions& options) {
  std::vector<BlendFit> fits;
  for (const std::vector<int64_t>& rows : split.subsets) {
    fits.push_back(FitShrinkage(sample, blend, rows, options));
  }
  return fits;
}

size_t Nearest(const std::vector<float>& axis, double value) {
  const auto away = [&](float one) { return std::abs(static_cast<double>(one) - value); };
  return static_cast<size_t>(std::min_element(axis.begin(), axis.end(),
                                              [&](float a, float b) { return away(a) < away(b); }) -
                             axis.begin());
}

std::vector<float> Sorted(std::vector<float> axis) {
  std::sort(axis.begin(), axis.end());
  axis.erase(std::unique(axis.begin(), axis.end()), axis.end());
  return axis;
}

}  // namespace

BlendSearch::BlendSearch(const MemoryDescription& description, const BlendSearchOptions& options,
                         BlendSample* sample, const BlendSplit& split, std::vector<bool> base_right,
                         float base_temperature)
    : options_(options),
      sample_(sample),
      split_(split),
      base_right_(std::move(base_right)),
      base_temperature_(base_temperature) {
  MakeAxes(description);
}

void BlendSearch::MakeAxes(const MemoryDescription& description) {
  const bool usable = std::isfinite(options_.typical_distance) && options_.typical_distance > 0;
  const double unit = usable ? options_.typical_distance : 1;
  const bool sparse =
      description.form == ResidualForm::kSparse || description.form == ResidualForm::kPacked;
  axes_[kSigma] = options_.grid.sigma.empty() ? Geometric(0.25 * unit, std::sqrt(2.0), 20)
                                              : Sorted(options_.grid.sigma);
  std::erase_if(axes_[kSigma], [](float sigma) { return !(sigma > 0 && sigma < 1e37f); });
  if (axes_[kSigma].empty()) axes_[kSigma] = {1.0f};
  axes_[kPrior] = Geometric(1, 2, 12);
  if (options_.grid.k.empty()) {
    std::vector<int64_t> usual = {10, 20, 35, 50, 75, 100, 150, 200, 300, 500};
    usual.insert(usual.end(), std::begin(kMoreK), std::end(kMoreK));
    for (const int64_t k : usual) {
      axes_[kNeighbors].push_back(static_cast<float>(std::min(k, options_.largest_k)));
    }
  } else {
    for (const int64_t k : options_.grid.k) {
      axes_[kNeighbors].push_back(static_cast<float>(std::min(k, options_.largest_k)));
    }
  }
  axes_[kNeighbors] = Sorted(axes_[kNeighbors]);
  const bool fixed =
      description.task == Task::kRegression || description.form != ResidualForm::kLogits;
  if (fixed) {
    axes_[kTemperature] = {description.parameters.temperature};
  } else {
    axes_[kTemperature] = options_.grid.temperature.empty() ? Geometric(1.4, std::sqrt(2.0), 8)
                                                            : Sorted(options_.grid.temperature);
  }
  start_ = {Nearest(axes_[kSigma], 0.25 * unit), Nearest(axes_[kPrior], sparse ? 4 : 1),
            Nearest(axes_[kNeighbors], 50), Nearest(axes_[kTemperature], 1.4)};
  if (description.task == Task::kRegression) {
    axes_[kPrior] = {1.0f};
    start_[kPrior] = 0;
  }
}

BlendPoint BlendSearch::PointAt(const Place& place) const {
  BlendPoint point;
  point.parameters.sigma = axes_[kSigma][place[kSigma]];
  point.parameters.k = static_cast<int64_t>(axes_[kNeighbors][place[kNeighbors]]);
  point.parameters.temperature = axes_[kTemperature][place[kTemperature]];
  point.prior = axes_[kPrior][place[kPrior]];
  return point;
}

BlendSearch::Place BlendSearch::PlaceOf(const BlendPoint& point) const {
  return {Nearest(axes_[kSigma], point.parameters.sigma), Nearest(axes_[kPrior], point.prior),
          Nearest(axes_[kNeighbors], static_cast<double>(point.parameters.k)),
          Nearest(axes_[kTemperature], point.parameters.temperature)};
}

void BlendSearch::Load(const BlendPoint& point) {
  if (is_loaded_ && loaded_ == point) return;
  sample_->Load(point, base_temperature_, options_.threads);
  loaded_ = point;
  is_loaded_ = true;
}

// Of a fit on its own rows.
double BlendSearch::Merit(const BlendFit& fit, const Blend& blend, size_t subset) const {
  if (sample_->regression() || options_.objective == Objective::kNll) return fit.loss;
  Blend fitted = blend;
  for (size_t j = 0; j < Blend::kParts; ++j) {
    fitted.coefficients[j][0] = static_cast<float>(fit.coefficients[j][0]);
  }
  int64_t fixed = 0, harmed = 0;
  std::vector<float> scratch;
  for (const int64_t row : split_.subsets[subset]) {
    const bool right = JudgeBlend(*sample_, fitted, row, &scratch).answer == sample_->label(row);
    const bool base = base_right_[static_cast<size_t>(row)];
    fixed += right && !base ? 1 : 0;
    harmed += !right && base ? 1 : 0;
  }
  const auto rows = static_cast<double>(split_.subsets[subset].size());
  // Among equals the likelier.
  const double tie = 1e-3 * fit.loss / rows;
  if (options_.objective == Objective::kGain)
    return tie - static_cast<double>(fixed - harmed) / rows;
  const double over = static_cast<double>(harmed) / rows - options_.fpr_limit;
  return over >= 0 ? 1 + over : tie - static_cast<double>(fixed) / rows;
}

const BlendSearch::Visit& BlendSearch::At(const Place& place) {
  const auto known = visited_.find(place);
  if (known != visited_.end()) return known->second;
  const BlendPoint point = PointAt(place);
  Load(point);
  const Blend blend = sample_->Describe(point, base_temperature_);
  BlendFitOptions fit_options;
  fit_options.parts = options_.parts;
  fit_options.threads = options_.threads;
  fit_options.converged = kWalkTolerance;
  if (!is_fitted_) last_[kBasePart][0] = 1 / static_cast<double>(base_temperature_);
  is_fitted_ = true;
  // The next point's optimum is near the last one's.
  const std::vector<BlendFit> fits = sample_->regression()
                                         ? FitShrinkages(*sample_, blend, split_, fit_options)
                                         : FitSplit(*sample_, blend, split_, fit_options, last_);
  last_ = fits[0].coefficients;
  Visit visit;
  for (size_t subset = 0; subset < fits.size(); ++subset) {
    visit.merit.push_back(Merit(fits[subset], blend, subset));
    visit.constants.push_back(fits[subset].coefficients);
  }
  if (options_.progress != nullptr) {
    options_.progress->Report("blend", points() + 1, 0);
    cancelled_ = cancelled_ || options_.progress->Cancelled();
  }
  return visited_.emplace(place, std::move(visit)).first->second;
}

BlendPoint BlendSearch::Walk(size_t subset) {
  Place best = start_;
  double merit = At(best).merit[subset];
  for (int pass = 0; pass < kMostPasses; ++pass) {
    bool improved = false;
    for (size_t axis = 0; axis < kAxes; ++axis) {
      for (const int direction : {1, -1}) {
        bool moved = false;
        while (!cancelled_) {
          Place next = best;
          if (direction < 0 && next[axis] == 0) break;
          next[axis] += static_cast<size_t>(direction);
          if (next[axis] >= axes_[axis].size()) break;
          const double there = At(next).merit[subset];
          if (!(there < merit - kLeastGain * std::abs(merit))) break;
          best = next;
          merit = there;
          moved = true;
        }
        improved |= moved;
        if (moved) break;
      }
    }
    if (!improved || cancelled_) break;
  }
  return PointAt(best);
}

const BlendCoefficients& BlendSearch::Constants(const BlendPoint& point, size_t subset) {
  return At(PlaceOf(point)).constants[subset];
}

std::string BlendSearch::AtEdge(const BlendPoint& point) const {
  const Place place = PlaceOf(point);
  const char* const names[kAxes] = {"sigma", "prior", "k", "T"};
  std::string text;
  for (size_t axis = 0; axis < kAxes; ++axis) {
    const std::vector<float>& values = axes_[axis];
    if (values.size() < 2) continue;
    if (place[axis] != 0 && place[axis] + 1 != values.size()) continue;
    text += (text.empty() ? "" : ", ") + Text(names[axis], " ", values[place[axis]]);
  }
  return text;
}

}  // namespace resmem
