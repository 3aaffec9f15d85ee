#include "tune/rivals/rival_grid.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "eval/calibration.h"
#include "kernels/vector_math.h"
#include "predict/correction.h"
#include "support/parallel.h"

namespace resmem {
namespace {

constexpr float kLambdas[] = {0.002f, 0.005f, 0.01f, 0.02f, 0.05f, 0.1f, 0.15f, 0.2f,  0.25f, 0.3f,
                              0.4f,   0.5f,   0.6f,  0.7f,  0.8f,  0.9f, 0.95f, 0.98f, 0.99f, 1.0f};
constexpr int kMostNewSigmas = 24;
constexpr int64_t kRivalRows = 64;

}  // namespace

void RivalSums::Add(const RivalSums& other, int64_t sign) {
  loss += static_cast<double>(sign) * other.loss;
  fixed += sign * other.fixed;
  harmed += sign * other.harmed;
  both_right += sign * other.both_right;
  rows += sign * other.rows;
}

// One thread's.
struct RivalGrid::Scratch {
  std::vector<float> weights;
  std::vector<float> mass;       // of each class, 0 between rows
  std::vector<int32_t> touched;  // classes with a mass
  std::vector<float> base;       // the base's probability of each of them
  std::vector<RivalSums> sums;   // of the row: k x lambda
};

RivalGrid::RivalGrid(const ResidualMemory& memory, const ValidationRows& rows, const Grid& grid,
                     bool extend, const TuneOptions& options)
    : memory_(memory),
      grid_(grid),
      extend_(extend),
      options_(options),
      threads_(ResolveThreads(options.threads)),
      folds_(std::max<int64_t>(rows.folds, 1)),
      lambdas_(std::begin(kLambdas), std::end(kLambdas)),
      sums_(static_cast<size_t>(folds_)) {
  for (const ValidationBlock& block : rows.blocks) {
    for (int64_t q = 0; q < block.count(); ++q) {
      rows_.push_back({&block, q, block.labels[static_cast<size_t>(q)], 0, 0, 0});
      row_folds_.push_back(block.folds[static_cast<size_t>(q)]);
    }
  }
  Prepare();
}

void RivalGrid::Prepare() {
  const int64_t classes = memory_.description().outputs;
  std::vector<std::vector<float>> scratch(static_cast<size_t>(threads_));
  ParallelFor(threads_, std::ssize(rows_), kRivalRows, [&](int64_t begin, int64_t end, int worker) {
    std::vector<float>& p = scratch[static_cast<size_t>(worker)];
    p.resize(static_cast<size_t>(classes));
    for (int64_t i = begin; i < end; ++i) {
      Row& row = rows_[static_cast<size_t>(i)];
      Softmax(row.block->logits().row(row.q), classes, 1.0f, p.data());
      row.base_answer = static_cast<int32_t>(ArgMax(p.data(), classes));
      row.base_probability = p[static_cast<size_t>(row.base_answer)];
      row.label_probability = p[static_cast<size_t>(row.label)];
    }
  });
}

Status RivalGrid::Run() {
  for (const float sigma : grid_.sigma) RESMEM_RETURN_IF_ERROR(AddSigma(sigma));
  if (!extend_ || sigmas_.size() < 2) return {};
  const double ratio = static_cast<double>(grid_.sigma[1]) / static_cast<double>(grid_.sigma[0]);
  for (const Method method : {Method::kKnn, Method::kKnnLm}) {
    bool larger = false;
    for (int i = 0; i < kMostNewSigmas && AtEdge(method, &larger); ++i) {
      const double edge = larger ? *std::max_element(sigmas_.begin(), sigmas_.end()) * ratio
                                 : *std::min_element(sigmas_.begin(), sigmas_.end()) / ratio;
      if (!(edge > 1e-30 && edge < 1e30)) break;
      RESMEM_RETURN_IF_ERROR(AddSigma(static_cast<float>(edge)));
    }
  }
  return {};
}

Status RivalGrid::AddSigma(float sigma) {
  const size_t points = grid_.k.size() * lambdas_.size();
  for (auto& fold : sums_) fold.resize(fold.size() + points);
  const size_t first = sigmas_.size() * points;
  sigmas_.push_back(sigma);
  std::vector<Scratch> scratch(static_cast<size_t>(threads_));
  for (Scratch& one : scratch) {
    one.mass.resize(static_cast<size_t>(memory_.description().outputs));
    one.sums.resize(points);
  }
  const size_t pieces = (rows_.size() + kRivalRows - 1) / kRivalRows;
  // A wave of pieces at a time: their sums are added in order.
  const size_t wave = static_cast<size_t>(threads_) * 4;
  std::vector<std::vector<RivalSums>> partial(wave);
  for (size_t begin = 0; begin < pieces; begin += wave) {
    const size_t end = std::min(begin + wave, pieces);
    ParallelFor(
        threads_, static_cast<int64_t>(end - begin), 1, [&](int64_t from, int64_t to, int worker) {
          for (int64_t piece = from; piece < to; ++piece) {
            std::vector<RivalSums>& sums = partial[static_cast<size_t>(piece)];
            sums.assign(points * static_cast<size_t>(folds_), {});
            const size_t last =
                std::min((begin + static_cast<size_t>(piece) + 1) * kRivalRows, rows_.size());
            for (size_t row = (begin + static_cast<size_t>(piece)) * kRivalRows; row < last;
                 ++row) {
              Scratch& own = scratch[static_cast<size_t>(worker)];
              JudgeRow(row, sigma, &own);
              RivalSums* const to_fold = &sums[static_cast<size_t>(row_folds_[row]) * points];
              for (size_t i = 0; i < points; ++i) to_fold[i].Add(own.sums[i]);
            }
          }
        });
    for (size_t piece = 0; piece < end - begin; ++piece) {
      for (size_t fold = 0; fold < sums_.size(); ++fold) {
        for (size_t i = 0; i < points; ++i) {
          sums_[fold][first + i].Add(partial[piece][fold * points + i]);
        }
      }
    }
    if (options_.progress != nullptr && options_.progress->Cancelled()) {
      return {ErrorCode::kCancelled, "stopped while tuning"};
    }
  }
  return {};
}

void RivalGrid::JudgeRow(size_t at, float sigma, Scratch* scratch) const {
  const Row& row = rows_[at];
  const std::span<const int64_t> neighbors = row.block->neighbors.rows_of(row.q);
  const std::span<const float> distances = row.block->neighbors.distances_of(row.q);
  const std::span<const float> logits = row.block->logits().row_span(row.q);
  const size_t count = CountNeighbors(neighbors, grid_.k.back());
  scratch->weights.resize(count);
  if (count > 0) {
    NeighborWeights(distances.data(), static_cast<int64_t>(count), sigma, scratch->weights.data());
  }
  const bool base_right = row.base_answer == row.label;
  const float largest = logits[static_cast<size_t>(row.base_answer)];
  float total = 0;
  size_t at_neighbor = 0;
  for (size_t j = 0; j < grid_.k.size(); ++j) {
    const size_t stop = std::min(count, static_cast<size_t>(grid_.k[j]));
    for (; at_neighbor < stop; ++at_neighbor) {
      const int32_t label = memory_.label(neighbors[at_neighbor]);
      float& mass = scratch->mass[static_cast<size_t>(label)];
      if (mass == 0) {
        scratch->touched.push_back(label);
        scratch->base.push_back(row.base_probability *
                                std::exp(logits[static_cast<size_t>(label)] - largest));
      }
      mass += scratch->weights[at_neighbor];
      total += scratch->weights[at_neighbor];
    }
    const float scale = stop > 0 ? 1 / total : 0;
    const float label_mass = scratch->mass[static_cast<size_t>(row.label)] * scale;
    for (size_t l = 0; l < lambdas_.size(); ++l) {
      const float lambda = stop > 0 ? lambdas_[l] : 0;
      bool floored = false;
      RivalSums& sums = scratch->sums[j * lambdas_.size() + l];
      sums = {};
      sums.rows = 1;
      sums.loss = NegativeLog((1 - lambda) * row.label_probability + lambda * label_mass, &floored);
      float best = -1;
      int32_t answer = row.base_answer;
      bool base_seen = false;
      for (size_t c = 0; c < scratch->touched.size(); ++c) {
        const int32_t label = scratch->touched[c];
        base_seen |= label == row.base_answer;
        const float p = (1 - lambda) * scratch->base[c] +
                        lambda * scratch->mass[static_cast<size_t>(label)] * scale;
        if (p > best || (p == best && label < answer)) {
          best = p;
          answer = label;
        }
      }
      if (!base_seen && (1 - lambda) * row.base_probability > best) answer = row.base_answer;
      const bool right = answer == row.label;
      sums.fixed = right && !base_right ? 1 : 0;
      sums.harmed = !right && base_right ? 1 : 0;
      sums.both_right = right && base_right ? 1 : 0;
    }
  }
  for (const int32_t label : scratch->touched) scratch->mass[static_cast<size_t>(label)] = 0;
  scratch->touched.clear();
  scratch->base.clear();
}

double RivalGrid::Merit(const RivalSums& sums) const {
  const auto rows = static_cast<double>(std::max<int64_t>(sums.rows, 1));
  const double nll = sums.loss / rows;
  if (options_.objective == Objective::kNll) return nll;
  const double tie = 1e-3 * nll / rows;  // among equals the likelier
  if (options_.objective == Objective::kGain) {
    return tie - static_cast<double>(sums.fixed - sums.harmed) / rows;
  }
  const double over = static_cast<double>(sums.harmed) / rows - options_.fpr_limit;
  return over >= 0 ? 1 + over : tie - static_cast<double>(sums.fixed) / rows;
}

std::optional<size_t> RivalGrid::Best(Method method, int64_t without) const {
  std::optional<size_t> best;
  double least = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < sums_[0].size(); ++i) {
    const bool is_knn = i % lambdas_.size() + 1 == lambdas_.size();
    if (is_knn != (method == Method::kKnn)) continue;
    RivalSums sums;
    for (size_t fold = 0; fold < sums_.size(); ++fold) {
      if (static_cast<int64_t>(fold) != without) sums.Add(sums_[fold][i]);
    }
    const double merit = Merit(sums);
    if (!(merit < least)) continue;
    least = merit;
    best = i;
  }
  return best;
}

Rivals::NeighborRival RivalGrid::PointAt(size_t position) const {
  const size_t lambda = position % lambdas_.size();
  const size_t k = position / lambdas_.size() % grid_.k.size();
  const size_t sigma = position / lambdas_.size() / grid_.k.size();
  return {grid_.k[k], sigmas_[sigma], lambdas_[lambda]};
}

bool RivalGrid::AtEdge(Method method, bool* larger) const {
  const std::optional<size_t> best = Best(method, -1);
  if (!best) return false;
  const float sigma = PointAt(*best).sigma;
  *larger = sigma == *std::max_element(sigmas_.begin(), sigmas_.end());
  return *larger || sigma == *std::min_element(sigmas_.begin(), sigmas_.end());
}

RivalChoice RivalGrid::Choose(Method method) const {
  RivalChoice choice;
  const std::optional<size_t> best = Best(method, -1);
  if (!best) return choice;
  choice.chosen = PointAt(*best);
  choice.cross_validated = folds_ > 1;
  for (size_t fold = 0; fold < sums_.size(); ++fold) {
    const std::optional<size_t> point =
        folds_ > 1 ? Best(method, static_cast<int64_t>(fold)) : best;
    if (point) choice.judged.Add(sums_[fold][*point]);
  }
  return choice;
}

}  // namespace resmem
