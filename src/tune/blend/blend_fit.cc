#include "tune/blend/blend_fit.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "kernels/vector_math.h"
#include "predict/portable_log.h"
#include "support/parallel.h"
#include "tune/blend/blend_moments.h"

namespace resmem {
namespace {

constexpr size_t kTerms = 1 + Blend::kGates;          // constant and slopes
constexpr size_t kUnknowns = Blend::kParts * kTerms;  // at most
constexpr size_t kLanes = 8;
constexpr size_t kFitRows = 32;
constexpr int64_t kWorthThreads = 1 << 15;
constexpr int kMostSteps = 40, kMostHalvings = 20, kMostSmallSteps = 4;
// A step that promises less is taken without asking whether the mean got better, which rounding
// would decide.
constexpr double kSmallStep = 1e-7;
// A step that promises less leads to the optimum within a few percent of what it promises.
constexpr double kTrustedStep = 2e-3;

using Vector = std::array<double, kUnknowns>;
using Matrix = std::array<std::array<double, kUnknowns>, kUnknowns>;

// Which unknowns there are: places in a flat list of part x term.
std::vector<size_t> UnknownsOf(const BlendFitOptions& options) {
  std::vector<size_t> unknowns;
  for (size_t j = 0; j < Blend::kParts; ++j) {
    if (!options.parts[j]) continue;
    for (size_t m = 0; m < (options.slopes ? kTerms : 1); ++m) unknowns.push_back(j * kTerms + m);
  }
  return unknowns;
}

// 1 and the scaled gates.
std::array<double, kTerms> TermsOf(const Blend& blend, const BlendGates& gates) {
  std::array<double, kTerms> terms{1};
  if (!gates.neighbors) return terms;
  const std::array<float, Blend::kGates> u = ScaledGates(blend, gates);
  for (size_t m = 0; m < Blend::kGates; ++m) terms[m + 1] = static_cast<double>(u[m]);
  return terms;
}

// Mean, gradient and Hessian over rows.
struct Derivatives {
  double loss = 0;
  Vector gradient{};
  Matrix hessian{};

  void Add(const Derivatives& other) {
    loss += other.loss;
    for (size_t i = 0; i < kUnknowns; ++i) {
      gradient[i] += other.gradient[i];
      for (size_t j = 0; j < kUnknowns; ++j) hessian[i][j] += other.hessian[i][j];
    }
  }
};

// p = exp(eta - max) of one row; returns log of the sum plus max.
struct RowEta {
  std::vector<float> eta, p;
  double total = 0, log_total = 0;

  void Load(const BlendSample& sample, int64_t row, const std::array<double, Blend::kParts>& b) {
    const auto classes = static_cast<size_t>(sample.classes());
    eta.resize(classes);
    p.resize(classes);
    std::array<const float*, Blend::kParts> part;
    for (size_t j = 0; j < Blend::kParts; ++j) part[j] = sample.part(row, j).data();
    const auto count = static_cast<int64_t>(classes);
    BlendEta(b.data(), part.data(), count, eta.data());
    const float largest = eta[static_cast<size_t>(ArgMax(eta.data(), count))];
    for (size_t c = 0; c < classes; ++c) p[c] = eta[c] - largest;
    Exp(p.data(), count, p.data());
    std::array<double, kLanes> sums{};
    for (size_t c = 0; c < classes; ++c) sums[c % kLanes] += static_cast<double>(p[c]);
    total = 0;
    for (const double sum : sums) total += sum;
    log_total = PortableLog(total) + static_cast<double>(largest);
  }
};

// The negative log-likelihood over groups of rows, summed for each of them.
class GroupedNll {
 public:
  GroupedNll(const BlendSample& sample, const Blend& blend,
             std::span<const std::span<const int64_t>> groups, const BlendFitOptions& options)
      : sample_(sample), blend_(blend), options_(options), groups_(groups) {
    for (size_t j = 0; j < Blend::kParts; ++j) {
      if (options.parts[j]) parts_.push_back(j);
    }
    int64_t rows = 0;
    for (size_t group = 0; group < groups.size(); ++group) {
      const std::span<const int64_t> all = groups[group];
      for (size_t begin = 0; begin < all.size(); begin += kFitRows) {
        pieces_.push_back({all.subspan(begin, std::min(kFitRows, all.size() - begin)), group, {}});
      }
      rows += std::ssize(all);
    }
    // Little work is done sooner than threads are started.
    threads_ = rows * sample.classes() < kWorthThreads ? 1 : options.threads;
    scratch_.resize(static_cast<size_t>(threads_));
  }

  std::vector<Derivatives> At(const BlendCoefficients& coefficients) {
    ParallelFor(threads_, std::ssize(pieces_), 1, [&](int64_t begin, int64_t end, int worker) {
      for (int64_t i = begin; i < end; ++i) {
        Piece& piece = pieces_[static_cast<size_t>(i)];
        piece.sum = {};
        for (const int64_t row : piece.rows) {
          AddRow(coefficients, row, &scratch_[static_cast<size_t>(worker)], &piece.sum);
        }
      }
    });
    std::vector<Derivatives> sums(groups_.size());
    for (const Piece& piece : pieces_) sums[piece.group].Add(piece.sum);
    return sums;
  }

 private:
  struct Piece {
    std::span<const int64_t> rows;
    size_t group;
    Derivatives sum;
  };

  void AddRow(const BlendCoefficients& coefficients, int64_t row, RowEta* scratch,
              Derivatives* sum) const {
    const size_t used = options_.slopes ? kTerms : 1;
    std::array<double, kTerms> terms{1};
    if (options_.slopes) terms = TermsOf(blend_, sample_.gates(row));
    std::array<double, Blend::kParts> b{};
    for (size_t j = 0; j < Blend::kParts; ++j) {
      for (size_t m = 0; m < used; ++m) b[j] += coefficients[j][m] * terms[m];
    }
    scratch->Load(sample_, row, b);
    const auto label = static_cast<size_t>(sample_.label(row));
    sum->loss += scratch->log_total - static_cast<double>(scratch->eta[label]);
    std::array<const float*, Blend::kParts> parts{};
    for (size_t i = 0; i < parts_.size(); ++i) parts[i] = sample_.part(row, parts_[i]).data();
    std::array<double, Blend::kParts*(Blend::kParts + 3) / 2> moments{};
    BlendMoments(scratch->p.data(), parts.data(), parts_.size(), sample_.classes(), moments.data());
    std::array<double, Blend::kParts> mean{};
    size_t next = 0;
    for (size_t i = 0; i < parts_.size(); ++i) {
      mean[i] = moments[next++] / scratch->total;
      const double slope = mean[i] - static_cast<double>(parts[i][label]);
      for (size_t m = 0; m < used; ++m) sum->gradient[parts_[i] * kTerms + m] += slope * terms[m];
      for (size_t l = 0; l <= i; ++l) {
        const double covariance = moments[next++] / scratch->total - mean[i] * mean[l];
        AddBlock(covariance, terms, used, parts_[i], parts_[l], &sum->hessian);
      }
    }
  }

  // The lower half.
  static void AddBlock(double covariance, const std::array<double, kTerms>& terms, size_t used,
                       size_t j, size_t l, Matrix* hessian) {
    for (size_t m = 0; m < used; ++m) {
      for (size_t n = 0; n < used; ++n) {
        (*hessian)[j * kTerms + m][l * kTerms + n] += covariance * terms[m] * terms[n];
      }
    }
  }

  const BlendSample& sample_;
  const Blend& blend_;
  const BlendFitOptions& options_;
  const std::span<const std::span<const int64_t>> groups_;
  int threads_ = 1;
  std::vector<size_t> parts_;    // those that are fitted
  std::vector<Piece> pieces_;    // added up in order
  std::vector<RowEta> scratch_;  // one a thread
};

// Sums over `rows` rows as the mean with its ridge.
struct PenalizedMean {
  PenalizedMean(const Derivatives& sums, int64_t rows, const BlendCoefficients& coefficients,
                const Blend& blend, const BlendFitOptions& options) {
    const double scale = 1 / static_cast<double>(rows);
    loss = value = sums.loss * scale;
    const double constant_ridge = options.constant_ridge + options.prior_rows * scale;
    for (size_t i = 0; i < kUnknowns; ++i) {
      const double ridge = i % kTerms == 0 ? constant_ridge : options.ridge;
      const double at = coefficients[i / kTerms][i % kTerms];
      const double away = i == 0 ? at - 1 / static_cast<double>(blend.base_temperature) : at;
      value += ridge * away * away;
      gradient[i] = sums.gradient[i] * scale + 2 * ridge * away;
      for (size_t j = 0; j < kUnknowns; ++j) {
        // Whole blocks of parts below the diagonal were summed.
        const bool summed = i / kTerms >= j / kTerms;
        hessian[i][j] = (summed ? sums.hessian[i][j] : sums.hessian[j][i]) * scale;
      }
      hessian[i][i] += 2 * ridge;
    }
  }
  double loss, value;  // without and with the ridge
  Vector gradient{};
  Matrix hessian{};
};

// Solves hessian x = gradient for the unknowns by Cholesky, with a trifle on the diagonal: a part
// that is the same for all classes has no curvature.  False where that is not enough.
bool Solve(const Matrix& hessian, const Vector& gradient, const std::vector<size_t>& unknowns,
           Vector* x) {
  const size_t n = unknowns.size();
  double largest = 0;
  for (const size_t i : unknowns) largest = std::max(largest, hessian[i][i]);
  if (!(largest > 0) || !std::isfinite(largest)) return false;
  Matrix lower{};
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      double sum = hessian[unknowns[i]][unknowns[j]] + (i == j ? 1e-9 * largest : 0);
      for (size_t k = 0; k < j; ++k) sum -= lower[i][k] * lower[j][k];
      if (i == j && !(sum > 0)) return false;
      lower[i][j] = i == j ? std::sqrt(sum) : sum / lower[j][j];
    }
  }
  Vector y{};
  for (size_t i = 0; i < n; ++i) {
    double sum = gradient[unknowns[i]];
    for (size_t k = 0; k < i; ++k) sum -= lower[i][k] * y[k];
    y[i] = sum / lower[i][i];
  }
  x->fill(0);
  for (size_t i = n; i-- > 0;) {
    double sum = y[i];
    for (size_t k = i + 1; k < n; ++k) sum -= lower[k][i] * (*x)[unknowns[k]];
    (*x)[unknowns[i]] = sum / lower[i][i];
  }
  return true;
}

BlendCoefficients Moved(const BlendCoefficients& from, const Vector& step, double share) {
  BlendCoefficients to = from;
  for (size_t i = 0; i < kUnknowns; ++i) to[i / kTerms][i % kTerms] -= share * step[i];
  return to;
}

// Newton's method over all groups together; `sums` are those at the coefficients that it returns,
// but for a last step too short to tell.
BlendFit Minimize(GroupedNll* nll, int64_t rows, const Blend& blend, const BlendFitOptions& options,
                  const BlendCoefficients& start, std::vector<Derivatives>* sums) {
  const std::vector<size_t> unknowns = UnknownsOf(options);
  const auto evaluate = [&](const BlendCoefficients& at, std::vector<Derivatives>* groups) {
    *groups = nll->At(at);
    Derivatives total;
    for (const Derivatives& group : *groups) total.Add(group);
    return PenalizedMean(total, rows, at, blend, options);
  };
  BlendCoefficients coefficients = start;
  PenalizedMean here = evaluate(coefficients, sums);
  std::vector<Derivatives> trial_sums;
  int small_steps = 0;
  for (int iteration = 0; iteration < kMostSteps; ++iteration) {
    Vector step{};
    if (!Solve(here.hessian, here.gradient, unknowns, &step)) break;
    double decrement = 0;
    for (const size_t i : unknowns) decrement += here.gradient[i] * step[i];
    if (!std::isfinite(decrement)) break;
    if (decrement < options.converged) {
      coefficients = Moved(coefficients, step, 1);
      break;
    }
    const bool small = decrement < kSmallStep;
    if (small && ++small_steps > kMostSmallSteps) break;
    bool better = false;
    double share = 1;
    for (int halvings = 0; halvings < kMostHalvings && !better; ++halvings, share /= 2) {
      const BlendCoefficients trial = Moved(coefficients, step, share);
      const PenalizedMean there = evaluate(trial, &trial_sums);
      better = small || there.value < here.value;
      if (!better) continue;
      coefficients = trial;
      here = there;
      std::swap(*sums, trial_sums);
    }
    if (!better) break;  // as good as rounding allows
  }
  return {coefficients, here.loss};
}

// Where one Newton step from `from` leads, and the loss there by the quadratic that it follows;
// nothing where the step is too long to be trusted.
std::optional<BlendFit> OneStep(const Derivatives& sums, int64_t rows, const Blend& blend,
                                const BlendFitOptions& options, const BlendCoefficients& from) {
  const std::vector<size_t> unknowns = UnknownsOf(options);
  const PenalizedMean here(sums, rows, from, blend, options);
  Vector step{};
  if (!Solve(here.hessian, here.gradient, unknowns, &step)) return std::nullopt;
  BlendFitOptions bare = options;
  bare.ridge = bare.constant_ridge = bare.prior_rows = 0;
  const PenalizedMean likelihood(sums, rows, from, blend, bare);
  double decrement = 0, loss = likelihood.loss;
  for (const size_t i : unknowns) {
    decrement += here.gradient[i] * step[i];
    loss -= likelihood.gradient[i] * step[i];
    for (const size_t j : unknowns) loss += step[i] * likelihood.hessian[i][j] * step[j] / 2;
  }
  if (!(decrement < kTrustedStep)) return std::nullopt;
  return BlendFit{Moved(from, step, 1), loss};
}

}  // namespace

BlendFit FitBlend(const BlendSample& sample, const Blend& blend, std::span<const int64_t> rows,
                  const BlendFitOptions& options, const BlendCoefficients& start) {
  const std::span<const int64_t> groups[] = {rows};
  GroupedNll nll(sample, blend, groups, options);
  std::vector<Derivatives> sums;
  return Minimize(&nll, std::ssize(rows), blend, options, start, &sums);
}

std::vector<BlendFit> FitSplit(const BlendSample& sample, const Blend& blend,
                               const BlendSplit& split, const BlendFitOptions& options,
                               const BlendCoefficients& start) {
  const std::vector<std::span<const int64_t>> groups(split.folds.begin(), split.folds.end());
  GroupedNll nll(sample, blend, groups, options);
  std::vector<Derivatives> sums;
  const int64_t rows = std::ssize(split.subsets[0]);
  std::vector<BlendFit> fits = {Minimize(&nll, rows, blend, options, start, &sums)};
  const BlendCoefficients common = fits[0].coefficients;
  for (size_t fold = 0; fold < groups.size(); ++fold) {
    Derivatives others;
    for (size_t other = 0; other < groups.size(); ++other) {
      if (other != fold) others.Add(sums[other]);
    }
    const std::optional<BlendFit> near =
        OneStep(others, rows - std::ssize(groups[fold]), blend, options, common);
    fits.push_back(near ? *near
                        : FitBlend(sample, blend, split.subsets[fold + 1], options, common));
  }
  return fits;
}

BlendFit FitShrinkage(const BlendSample& sample, const Blend& blend, std::span<const int64_t> rows,
                      const BlendFitOptions& options) {
  BlendFitOptions residual = options;
  residual.parts = {false, false, false, true};
  const std::vector<size_t> unknowns = UnknownsOf(residual);
  Matrix normal{};
  Vector right{};
  for (const int64_t row : rows) {
    const std::array<double, kTerms> terms = TermsOf(blend, sample.gates(row));
    const BlendSample::Errors& errors = sample.errors(row);
    for (size_t m = 0; m < kTerms; ++m) {
      right[kResidualPart * kTerms + m] += terms[m] * errors.er;
      for (size_t n = 0; n < kTerms; ++n) {
        normal[kResidualPart * kTerms + m][kResidualPart * kTerms + n] +=
            terms[m] * terms[n] * errors.rr;
      }
    }
  }
  // The ridge counts in the unit of the residuals.
  const double unit = normal[kResidualPart * kTerms][kResidualPart * kTerms];
  for (size_t m = 1; m < kTerms; ++m) {
    normal[kResidualPart * kTerms + m][kResidualPart * kTerms + m] += options.ridge * unit;
  }
  Vector x{};
  BlendFit fit;
  if (Solve(normal, right, unknowns, &x)) {
    for (size_t m = 0; m < kTerms; ++m) {
      fit.coefficients[kResidualPart][m] = x[kResidualPart * kTerms + m];
    }
  }
  for (const int64_t row : rows) {
    const std::array<double, kTerms> terms = TermsOf(blend, sample.gates(row));
    double share = 0;
    for (size_t m = 0; m < kTerms; ++m) share += fit.coefficients[kResidualPart][m] * terms[m];
    fit.loss += sample.errors(row).Of(share);
  }
  fit.loss /= static_cast<double>(rows.size());
  return fit;
}

BlendedRow JudgeBlend(const BlendSample& sample, const Blend& blend, int64_t row,
                      std::vector<float>* scratch) {
  const std::array<float, Blend::kParts> b = CoefficientsOf(blend, sample.gates(row));
  if (sample.regression()) {
    return {sample.errors(row).Of(static_cast<double>(b[kResidualPart])), -1};
  }
  RowEta eta;
  eta.eta.swap(*scratch);
  eta.Load(sample, row, {b[0], b[1], b[2], b[3]});
  const auto label = static_cast<size_t>(sample.label(row));
  const BlendedRow judged = {eta.log_total - static_cast<double>(eta.eta[label]),
                             ArgMax(eta.eta.data(), sample.classes())};
  eta.eta.swap(*scratch);
  return judged;
}

}  // namespace resmem
