// k-NN and kNN-LM at every (k, sigma, lambda) of a grid, on the rows that ResMem is tuned on.
#ifndef RESMEM_TUNE_RIVALS_RIVAL_GRID_H_
#define RESMEM_TUNE_RIVALS_RIVAL_GRID_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "resmem/rivals.h"
#include "tune/validation_rows.h"

namespace resmem {

// How a rival does on some rows.
struct RivalSums {
  double loss = 0;  // negative log-likelihood, summed
  int64_t fixed = 0, harmed = 0, both_right = 0, rows = 0;

  void Add(const RivalSums& other, int64_t sign = 1);
};

// Cross-validated: each fold by what the others chose.
struct RivalChoice {
  Rivals::NeighborRival chosen;  // on all rows
  RivalSums judged;              // on the rows it was chosen on, without folds
  bool cross_validated = false;
};

class RivalGrid {
 public:
  // `grid`: filled; sigma is extended where `extend` and the best lies at its edge.
  RivalGrid(const ResidualMemory& memory, const ValidationRows& rows, const Grid& grid, bool extend,
            const TuneOptions& options);

  // kCancelled.
  Status Run();
  RivalChoice Choose(Method method) const;  // kKnn or kKnnLm
  const std::vector<float>& sigmas() const { return sigmas_; }

 private:
  struct Row {
    const ValidationBlock* block;
    int64_t q;
    int32_t label, base_answer;
    float base_probability, label_probability;  // of the base's answer, and of the label
  };
  struct Scratch;

  void Prepare();
  Status AddSigma(float sigma);
  void JudgeRow(size_t row, float sigma, Scratch* scratch) const;
  // The best point by these folds' sums but one, or by all: position in the sums of a fold.
  std::optional<size_t> Best(Method method, int64_t without) const;
  double Merit(const RivalSums& sums) const;
  Rivals::NeighborRival PointAt(size_t position) const;
  bool AtEdge(Method method, bool* larger) const;

  const ResidualMemory& memory_;
  const Grid& grid_;
  const bool extend_;
  const TuneOptions& options_;
  const int threads_;
  const int64_t folds_;
  std::vector<float> lambdas_;  // ascending, the last is 1: k-NN
  std::vector<float> sigmas_;   // in the order of sums_
  std::vector<Row> rows_;
  std::vector<int32_t> row_folds_;
  // [fold][sigma, k, lambda], lambda fastest.
  std::vector<std::vector<RivalSums>> sums_;
};

}  // namespace resmem

#endif  // RESMEM_TUNE_RIVALS_RIVAL_GRID_H_
