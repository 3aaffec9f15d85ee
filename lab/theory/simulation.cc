#include "theory/simulation.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <mutex>
#include <span>
#include <vector>

#include "support/parallel.h"
#include "theory/draw.h"
#include "theory/sample.h"
#include "theory/simulation_options.h"
#include "theory/statistics.h"
#include "theory/target.h"

namespace resmem {
namespace {

// One draw at one (dimension, n), for every setting and bound.
struct Draw {
  size_t dimension = 0, sample = 0;  // places in the options
  int64_t draw = 0;
  std::vector<DrawRisks> risks;  // settings x bounds
};

class Simulation {
 public:
  explicit Simulation(const SimulationOptions& options)
      : options_(options), fit_from_(ResolveFitFrom(options)) {
    for (const SimulationSetting& setting : options.settings) {
      largest_k_ = std::max(largest_k_, setting.k);
      with_noise_ = with_noise_ || setting.noise > 0;
    }
    for (int64_t dimension : options.dimensions) {
      std::vector<TargetMoments>& moments = moments_.emplace_back();
      for (const SimulationSetting& setting : options.settings) {
        moments.push_back(ComputeTargetMoments(setting.target, dimension));
      }
    }
    for (size_t d = 0; d < options.dimensions.size(); ++d) {
      for (size_t n = 0; n < options.samples.size(); ++n) {
        for (int64_t draw = 0; draw < options.draws; ++draw) tasks_.push_back({d, n, draw, {}});
      }
    }
  }

  Status RunDraws() {
    // The largest first, so that no thread is left alone with one at the end.
    std::vector<size_t> order(tasks_.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [this](size_t a, size_t b) { return tasks_[a].sample > tasks_[b].sample; });

    std::mutex mutex;  // guards failure, done and the reports
    Status failure;
    int64_t done = 0;
    std::atomic<bool> stop{false};
    const auto total = static_cast<int64_t>(order.size());
    ParallelFor(options_.threads, total, 1, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end && !stop; ++i) {
        const Status status = RunTask(&tasks_[order[static_cast<size_t>(i)]]);
        const std::lock_guard<std::mutex> lock(mutex);
        Progress* progress = options_.progress;
        if (!status.ok()) failure = status;
        if (progress != nullptr) progress->Report("draws", ++done, total);
        if (progress != nullptr && progress->Cancelled()) {
          failure = Status(ErrorCode::kCancelled, "simulation: stopped as asked");
        }
        if (!failure.ok()) stop = true;
      }
    });
    return failure;
  }

  SimulationResult Summarize() const {
    SimulationResult result;
    result.options = options_;
    result.options.progress = nullptr;
    result.fit_from = fit_from_;
    for (size_t s = 0; s < options_.settings.size(); ++s) {
      for (size_t d = 0; d < options_.dimensions.size(); ++d) {
        for (size_t b = 0; b < options_.bounds.size(); ++b) {
          result.curves.push_back(MakeCurve(s, d, b));
          for (const SimulationPoint& point : result.curves.back().points) {
            result.violations += point.violations;
            result.kkt_residual = std::max(result.kkt_residual, point.kkt_residual);
          }
        }
      }
    }
    return result;
  }

 private:
  Status RunTask(Draw* task) const {
    const Sample sample =
        DrawSample(options_.dimensions[task->dimension], options_.samples[task->sample],
                   options_.tests, with_noise_, options_.seed, task->draw);
    RESMEM_ASSIGN_OR_RETURN(const Neighbors neighbors,
                            FindNeighbors(sample, std::min(largest_k_, sample.n)));
    task->risks = EvaluateDraw(sample, neighbors, options_.settings, moments_[task->dimension],
                               options_.bounds);
    return {};
  }

  SimulationCurve MakeCurve(size_t setting, size_t dimension, size_t bound) const {
    SimulationCurve curve;
    curve.setting = options_.settings[setting];
    curve.dimension = options_.dimensions[dimension];
    curve.bound = options_.bounds[bound];
    const TargetMoments& moments = moments_[dimension][setting];
    curve.plateau = Plateau(moments, curve.bound);
    // With noise both tend to the same: what the noise of k labels leaves.
    curve.ratio_limit = curve.setting.noise > 0 ? 1 : RatioLimit(moments, curve.bound);
    for (size_t n = 0; n < options_.samples.size(); ++n) {
      const auto draws = static_cast<size_t>(options_.draws);
      const Draw* tasks = &tasks_[(dimension * options_.samples.size() + n) * draws];
      curve.points.push_back(MakePoint({tasks, draws}, curve.dimension, options_.samples[n],
                                       curve.bound, setting * options_.bounds.size() + bound));
    }
    curve.slopes = MakeSlopes(curve);
    curve.against_labels =
        FindCrossover(curve.points, &SimulationPoint::knn, &SimulationPoint::knn_minus_resmem);
    curve.against_base =
        FindCrossover(curve.points, &SimulationPoint::base, &SimulationPoint::base_minus_resmem);
    return curve;
  }

  static SimulationPoint MakePoint(std::span<const Draw> draws, int64_t dimension, int64_t n,
                                   double bound, size_t place) {
    std::vector<double> values(draws.size());
    const auto mean = [&](const auto& value) {
      for (size_t i = 0; i < draws.size(); ++i) values[i] = value(draws[i].risks[place]);
      return MeanWithError(values);
    };
    SimulationPoint point;
    point.n = n;
    point.base = mean([](const DrawRisks& r) { return r.base; });
    point.knn = mean([](const DrawRisks& r) { return r.knn; });
    point.resmem = mean([](const DrawRisks& r) { return r.resmem; });
    point.t1 = mean([](const DrawRisks& r) { return r.t1; });
    point.t2 = mean([](const DrawRisks& r) { return r.t2; });
    point.noise_part = mean([](const DrawRisks& r) { return r.noise_part; });
    point.decomposition = mean([](const DrawRisks& r) { return r.decomposition; });
    point.z = mean([](const DrawRisks& r) { return r.z; });
    point.knn_minus_resmem = mean([](const DrawRisks& r) { return r.knn - r.resmem; });
    point.base_minus_resmem = mean([](const DrawRisks& r) { return r.base - r.resmem; });

    const auto d = static_cast<double>(dimension);
    const auto count = static_cast<double>(n);
    point.z_bound = d * d * std::pow(std::log(count) / d / count, 1 / d);
    point.theorem_bound = d * d * bound * bound * std::pow(count, -2.0 / 3) +
                          (1 - bound) * (1 - bound) * point.z_bound;
    for (const Draw& task : draws) {
      const DrawRisks& risks = task.risks[place];
      point.violations += risks.violated ? 1 : 0;
      point.interior_draws += risks.interior ? 1 : 0;
      point.kkt_residual = std::max(point.kkt_residual, risks.kkt_residual);
    }
    return point;
  }

  SimulationSlopes MakeSlopes(const SimulationCurve& curve) const {
    std::vector<int64_t> n;
    std::vector<const SimulationPoint*> points;
    for (const SimulationPoint& point : curve.points) {
      if (point.n < fit_from_) continue;
      n.push_back(point.n);
      points.push_back(&point);
    }
    std::vector<Estimate> values(n.size());
    const auto slope = [&](const auto& value) {
      for (size_t i = 0; i < n.size(); ++i) values[i] = value(*points[i]);
      return LogLogSlope(n, values);
    };
    SimulationSlopes slopes;
    slopes.knn = slope([](const SimulationPoint& p) { return p.knn; });
    slopes.resmem = slope([](const SimulationPoint& p) { return p.resmem; });
    slopes.t1 = slope([](const SimulationPoint& p) { return p.t1; });
    slopes.t2 = slope([](const SimulationPoint& p) { return p.t2; });
    slopes.z = slope([](const SimulationPoint& p) { return p.z; });
    slopes.proved_t1 = -2.0 / 3;
    const auto bound = slope([](const SimulationPoint& p) { return Estimate{p.z_bound, 0}; });
    slopes.proved_t2 = bound ? bound->value : -1.0 / static_cast<double>(curve.dimension);
    return slopes;
  }

  const SimulationOptions& options_;
  const int64_t fit_from_;
  int64_t largest_k_ = 1;
  bool with_noise_ = false;
  std::vector<std::vector<TargetMoments>> moments_;  // of each dimension, of each setting
  std::vector<Draw> tasks_;                          // dimensions x samples x draws
};

}  // namespace

Result<SimulationResult> RunSimulation(const SimulationOptions& options) {
  RESMEM_RETURN_IF_ERROR(CheckSimulationOptions(options));
  const auto start = std::chrono::steady_clock::now();
  Simulation simulation(options);
  RESMEM_RETURN_IF_ERROR(simulation.RunDraws());
  SimulationResult result = simulation.Summarize();
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace resmem
