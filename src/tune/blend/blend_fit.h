// The coefficients of a blend, by Newton's method on the mean negative log-likelihood of some of a
// sample's rows.  The problem is convex; a row needs only E[phi] and the 4 x 4 Cov(phi) under p.
#ifndef RESMEM_TUNE_BLEND_BLEND_FIT_H_
#define RESMEM_TUNE_BLEND_BLEND_FIT_H_

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "tune/blend/blend_sample.h"

namespace resmem {

using BlendCoefficients = std::array<std::array<double, 1 + Blend::kGates>, Blend::kParts>;

struct BlendFitOptions {
  std::array<bool, Blend::kParts> parts = {true, true, true, true};  // others stay 0
  bool slopes = false;
  double ridge = 0;  // x the squared slopes is added to the mean
  // x the squared distance of the constants from the base's (1 / T0, 0, 0, 0), together with
  // prior_rows / rows.  Next to nothing for many rows; but two parts that tell the same cannot run
  // off against each other, and a few rows that are all told apart do not call for certainty.
  double constant_ridge = 1e-5, prior_rows = 0.05;
  double converged = 1e-13;  // a step that promises less of the mean is the last
  int threads = 1;           // nothing depends on it
};

struct BlendFit {
  BlendCoefficients coefficients{};
  double loss = 0;  // mean NLL, or mean squared error; without the ridge
};

// `blend`: for the scale of the gates.  `start`: where to begin.  Classification.
BlendFit FitBlend(const BlendSample& sample, const Blend& blend, std::span<const int64_t> rows,
                  const BlendFitOptions& options, const BlendCoefficients& start);

// Rows that a blend is fitted on, with cross-validation.
struct BlendSplit {
  std::vector<std::vector<int64_t>> folds;
  std::vector<std::vector<int64_t>> subsets;  // all rows first, then all but each fold
};

// FitBlend() for each of the subsets, at little more than the price of the first: where a fold is a
// small part of the rows, its own optimum is one step from the common one.
std::vector<BlendFit> FitSplit(const BlendSample& sample, const Blend& blend,
                               const BlendSplit& split, const BlendFitOptions& options,
                               const BlendCoefficients& start);

// The share of the mean residual that makes the squared error least; the same for regression.
BlendFit FitShrinkage(const BlendSample& sample, const Blend& blend, std::span<const int64_t> rows,
                      const BlendFitOptions& options);

// How a blend does on one row of its own sample, guard and all.
struct BlendedRow {
  double loss = 0;  // NLL, or squared error
  int64_t answer = -1;
};
BlendedRow JudgeBlend(const BlendSample& sample, const Blend& blend, int64_t row,
                      std::vector<float>* scratch);

}  // namespace resmem

#endif  // RESMEM_TUNE_BLEND_BLEND_FIT_H_
