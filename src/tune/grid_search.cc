#include "tune/grid_search.h"

#include <algorithm>
#include <limits>

#include "kernels/vector_math.h"
#include "support/parallel.h"
#include "tune/grid_walk.h"

namespace resmem {
namespace {

// Rows that one thread takes at a time.  Squared errors are summed piece by piece in order.
constexpr int64_t kPieceRows = 64;

template <typename T>
void AddAll(const std::vector<T>& from, std::vector<T>* to) {
  for (size_t i = 0; i < from.size(); ++i) (*to)[i] += from[i];
}
template <typename T>
void SubtractAll(const std::vector<T>& from, std::vector<T>* to) {
  for (size_t i = 0; i < from.size(); ++i) (*to)[i] -= from[i];
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

  void Classify(const ValidationBlock& block, int64_t q, size_t t, std::vector<PointSums>* folds) {
    const auto i = static_cast<size_t>(q);
    const float temperature = grid_.temperature[t];
    Softmax(block.logits().row(q), outputs_, temperature, base_.data());
    const int64_t label = block.labels[i];
    const bool base_right = ArgMax(base_.data(), outputs_) == label;
    PointSums& sums = (*folds)[static_cast<size_t>(block.folds[i])];
    sums.base_right[t] += base_right ? 1 : 0;
    std::vector<int64_t>& changed = base_right ? sums.harmed : sums.fixed;
    const auto columns = static_cast<int64_t>(base_.size());
    walk_.Walk(block.neighbors.rows_of(q), block.neighbors.distances_of(q), temperature,
               [&](size_t s, size_t j, const float* sum, float scale) {
                 const bool right = ArgMaxOfSum(base_.data(), sum, scale, columns) == label;
                 if (right != base_right) ++changed[PointIndex(grid_, t, s, j)];
               });
  }

  void Regress(const ValidationBlock& block, int64_t q, std::vector<PointSums>* folds) {
    const auto i = static_cast<size_t>(q);
    const float* base = block.logits().row(q);
    const float* target = &block.target_values[i * static_cast<size_t>(outputs_)];
    PointSums& sums = (*folds)[static_cast<size_t>(block.folds[i])];
    sums.base_squared_error += SquaredError(base, target, nullptr, 0);
    walk_.Walk(block.neighbors.rows_of(q), block.neighbors.distances_of(q), grid_.temperature[0],
               [&](size_t s, size_t j, const float* sum, float scale) {
                 sums.squared_error[PointIndex(grid_, 0, s, j)] +=
                     SquaredError(base, target, sum, scale);
               });
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

void PointSums::Subtract(const PointSums& other) {
  SubtractAll(other.fixed, &fixed);
  SubtractAll(other.harmed, &harmed);
  SubtractAll(other.base_right, &base_right);
  SubtractAll(other.squared_error, &squared_error);
  base_squared_error -= other.base_squared_error;
  rows -= other.rows;
}

Result<std::vector<PointSums>> SearchGrid(const ResidualMemory& memory, const ValidationRows& rows,
                                          const Grid& grid, const TuneOptions& options) {
  const bool classify = memory.description().task == Task::kClassification;
  const int threads = ResolveThreads(options.threads);
  ResidualTable table(memory, rows, GridWalk::Stride(memory.description().outputs));
  std::vector<RowScorer> scorers(static_cast<size_t>(threads), RowScorer(memory, table, grid));
  std::vector<PointSums> none(static_cast<size_t>(std::max<int64_t>(options.folds, 1)));
  for (PointSums& fold : none) fold.Resize(grid);
  std::vector<PointSums> result = none;
  for (const ValidationBlock& block : rows.blocks) {
    for (const int32_t fold : block.folds) ++result[static_cast<size_t>(fold)].rows;
  }
  const int64_t total = rows.rows * static_cast<int64_t>(grid.temperature.size());
  int64_t done = 0;
  for (size_t t = 0; t < grid.temperature.size(); ++t) {
    table.SetTemperature(grid.temperature[t], threads);
    for (const ValidationBlock& block : rows.blocks) {
      // Counts are integers: one sum a thread.  Errors round: one sum a piece, added in order.
      const int64_t pieces = (block.count() + kPieceRows - 1) / kPieceRows;
      std::vector<std::vector<PointSums>> parts(static_cast<size_t>(classify ? threads : pieces),
                                                none);
      ParallelFor(threads, block.count(), kPieceRows, [&](int64_t begin, int64_t end, int worker) {
        RowScorer& scorer = scorers[static_cast<size_t>(worker)];
        for (int64_t q = begin; q < end; ++q) {
          if (classify) {
            scorer.Classify(block, q, t, &parts[static_cast<size_t>(worker)]);
          } else {
            scorer.Regress(block, q, &parts[static_cast<size_t>(begin / kPieceRows)]);
          }
        }
      });
      for (const std::vector<PointSums>& part : parts) {
        for (size_t fold = 0; fold < part.size(); ++fold) result[fold].Add(part[fold]);
      }
      done += block.count();
      if (options.progress != nullptr) {
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
