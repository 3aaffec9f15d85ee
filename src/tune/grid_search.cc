#include "tune/grid_search.h"

#include <algorithm>
#include <limits>

#include "kernels/vector_math.h"
#include "support/parallel.h"
#include "tune/grid_walk.h"

namespace resmem {
namespace {

// Rows whose results at every (sigma, k) are held at once, before they are added up in order; after
// each wave the caller may stop the work.  Of one thread: kPieceRows at a time.
constexpr int64_t kWaveRows = 512, kWaveValues = int64_t{1} << 22;
constexpr int64_t kPieceRows = 8;

template <typename T>
void AddAll(const std::vector<T>& from, std::vector<T>* to) {
  for (size_t i = 0; i < from.size(); ++i) (*to)[i] += from[i];
}

// One thread's work on a row.
class RowScorer {
 public:
  RowScorer(const ResidualMemory& memory, const ResidualTable& table, const Grid& grid)
      : grid_(grid),
        walk_(memory, table, grid),
        outputs_(memory.description().outputs),
        // Beyond the classes nothing wins.
        base_(static_cast<size_t>(GridWalk::Stride(outputs_)),
              -std::numeric_limits<float>::infinity()) {}

  // Is the base right?  changed[s, j]: 1 where ResMem is not as right as the base, else 0.
  bool Classify(const ValidationBlock& block, int64_t q, size_t t, uint8_t* changed) {
    const auto i = static_cast<size_t>(q);
    const float temperature = grid_.temperature[t];
    Softmax(block.logits().row(q), outputs_, temperature, base_.data());
    const int64_t label = block.labels[i];
    const bool base_right = ArgMax(base_.data(), outputs_) == label;
    const auto columns = static_cast<int64_t>(base_.size());
    walk_.Walk(block.neighbors.rows_of(q), block.neighbors.distances_of(q), temperature,
               [&](size_t s, size_t j, const float* sum, float scale) {
                 const bool right = ArgMaxOfSum(base_.data(), sum, scale, columns) == label;
                 changed[PointIndex(grid_, 0, s, j)] = right != base_right ? 1 : 0;
               });
    return base_right;
  }

  // The base's squared error; errors[s, j]: ResMem's.
  double Regress(const ValidationBlock& block, int64_t q, double* errors) {
    const auto i = static_cast<size_t>(q);
    const float* base = block.logits().row(q);
    const float* target = &block.target_values[i * static_cast<size_t>(outputs_)];
    walk_.Walk(block.neighbors.rows_of(q), block.neighbors.distances_of(q), grid_.temperature[0],
               [&](size_t s, size_t j, const float* sum, float scale) {
                 errors[PointIndex(grid_, 0, s, j)] = SquaredError(base, target, sum, scale);
               });
    return SquaredError(base, target, nullptr, 0);
  }

 private:
  // Mean over the outputs.
  double SquaredError(const float* base, const float* target, const float* sum, float scale) const {
    double total = 0;
    for (int64_t c = 0; c < outputs_; ++c) {
      const float score = sum == nullptr ? base[c] : base[c] + sum[c] * scale;
      const double error = static_cast<double>(score) - static_cast<double>(target[c]);
      total += error * error;
    }
    return total / static_cast<double>(outputs_);
  }

  const Grid& grid_;
  GridWalk walk_;
  const int64_t outputs_;
  std::vector<float> base_;
};

// The rows of one wave at one temperature: scored by all threads, added up by one.
class Wave {
 public:
  Wave(const ResidualMemory& memory, const ResidualTable& table, const Grid& grid, int threads)
      : classify_(memory.description().task == Task::kClassification),
        threads_(threads),
        points_(grid.sigma.size() * grid.k.size()),
        most_rows_(std::clamp<int64_t>(kWaveValues / static_cast<int64_t>(points_), 1, kWaveRows)),
        scorers_(static_cast<size_t>(threads), RowScorer(memory, table, grid)) {
    const auto rows = static_cast<size_t>(most_rows_);
    base_right_.resize(classify_ ? rows : 0);
    changed_.resize(classify_ ? rows * points_ : 0);
    base_errors_.resize(classify_ ? 0 : rows);
    errors_.resize(classify_ ? 0 : rows * points_);
  }

  int64_t most_rows() const { return most_rows_; }

  void Score(const ValidationBlock& block, int64_t first, int64_t count, size_t t) {
    ParallelFor(threads_, count, kPieceRows, [&](int64_t begin, int64_t end, int worker) {
      RowScorer& scorer = scorers_[static_cast<size_t>(worker)];
      for (int64_t q = begin; q < end; ++q) {
        const auto i = static_cast<size_t>(q);
        if (classify_) {
          base_right_[i] = scorer.Classify(block, first + q, t, &changed_[i * points_]) ? 1 : 0;
        } else {
          base_errors_[i] = scorer.Regress(block, first + q, &errors_[i * points_]);
        }
      }
    });
  }

  void AddTo(const ValidationBlock& block, int64_t first, int64_t count, size_t t,
             std::vector<PointSums>* folds) const {
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
      PointSums& sums = (*folds)[static_cast<size_t>(block.folds[static_cast<size_t>(first) + i])];
      if (classify_) {
        sums.base_right[t] += base_right_[i];
        AddRow(&changed_[i * points_],
               (base_right_[i] != 0 ? sums.harmed : sums.fixed).data() + t * points_);
      } else {
        sums.base_squared_error += base_errors_[i];
        AddRow(&errors_[i * points_], sums.squared_error.data() + t * points_);
      }
    }
  }

 private:
  template <typename From, typename To>
  void AddRow(const From* from, To* to) const {
    for (size_t point = 0; point < points_; ++point) to[point] += from[point];
  }

  const bool classify_;
  const int threads_;
  const size_t points_;  // of one temperature
  const int64_t most_rows_;
  std::vector<RowScorer> scorers_;
  std::vector<uint8_t> base_right_, changed_;  // rows; rows x points
  std::vector<double> base_errors_, errors_;   // the same in regression
};

}  // namespace

void PointSums::Resize(const Grid& grid) {
  const size_t points = grid.k.size() * grid.sigma.size() * grid.temperature.size();
  fixed.resize(points);
  harmed.resize(points);
  squared_error.resize(points);
  base_right.resize(grid.temperature.size());
}

void PointSums::Add(const PointSums& other) {
  AddAll(other.fixed, &fixed);
  AddAll(other.harmed, &harmed);
  AddAll(other.base_right, &base_right);
  AddAll(other.squared_error, &squared_error);
  base_squared_error += other.base_squared_error;
  rows += other.rows;
}

std::vector<PointSums> SumsOfOthers(const Grid& grid, const std::vector<PointSums>& folds) {
  std::vector<PointSums> others(folds.size());
  PointSums after, before;
  after.Resize(grid);
  before.Resize(grid);
  for (size_t fold = folds.size(); fold-- > 0;) {
    others[fold] = after;
    after.Add(folds[fold]);
  }
  for (size_t fold = 0; fold < folds.size(); ++fold) {
    others[fold].Add(before);
    before.Add(folds[fold]);
  }
  return others;
}

Result<std::vector<PointSums>> SearchGrid(const ResidualMemory& memory, const ValidationRows& rows,
                                          const Grid& grid, const TuneOptions& options) {
  const int threads = ResolveThreads(options.threads);
  ResidualTable table(memory, rows, GridWalk::Stride(memory.description().outputs));
  Wave wave(memory, table, grid, threads);
  std::vector<PointSums> result(static_cast<size_t>(std::max<int64_t>(rows.folds, 1)));
  for (PointSums& fold : result) fold.Resize(grid);
  for (const ValidationBlock& block : rows.blocks) {
    for (const int32_t fold : block.folds) ++result[static_cast<size_t>(fold)].rows;
  }
  const int64_t total = rows.rows * static_cast<int64_t>(grid.temperature.size());
  int64_t done = 0;
  for (size_t t = 0; t < grid.temperature.size(); ++t) {
    table.SetTemperature(grid.temperature[t], threads);
    for (const ValidationBlock& block : rows.blocks) {
      for (int64_t first = 0; first < block.count(); first += wave.most_rows()) {
        const int64_t count = std::min(wave.most_rows(), block.count() - first);
        wave.Score(block, first, count, t);
        wave.AddTo(block, first, count, t, &result);
        done += count;
        if (options.progress == nullptr) continue;
        options.progress->Report("grid", done, total);
        if (options.progress->Cancelled()) {
          return Status(ErrorCode::kCancelled, "stopped while tuning");
        }
      }
    }
  }
  return result;
}

}  // namespace resmem
