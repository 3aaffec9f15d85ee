#include "tune/blend_fit.h"

#include <algorithm>
#include <cmath>

#include "kernels/vector_math.h"
#include "predict/portable_log.h"
#include "support/parallel.h"
#include "tune/blend_moments.h"

namespace resmem {
namespace {

constexpr size_t kTerms = 1 + Blend::kGates;          // constant and slopes
constexpr size_t kUnknowns = Blend::kParts * kTerms;  // at most
constexpr size_t kLanes = 8;
constexpr int64_t kFitRows = 32;
constexpr int64_t kWorthThreads = 1 << 15;
constexpr int kMostSteps = 40, kMostHalvings = 20, kMostSmallSteps = 4;
// A step that promises less is taken without asking whether the mean got better, which rounding
// would decide.
constexpr double kSmallStep = 1e-7;

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

class MeanNll {
 public:
  MeanNll(const BlendSample& sample, const Blend& blend, std::span<const int64_t> rows,
          const BlendFitOptions& options)
      : sample_(sample),
        blend_(blend),
        rows_(rows),
        options_(options),
        // Little work is done sooner than threads are started.
        threads_(std::ssize(rows) * sample.classes() < kWorthThreads ? 1 : options.threads),
        pieces_(static_cast<size_t>((std::ssize(rows) + kFitRows - 1) / kFitRows)),
        scratch_(static_cast<size_t>(options.threads)) {
    for (size_t j = 0; j < Blend::kParts; ++j) {
      if (options.parts[j]) parts_.push_back(j);
    }
  }

  // With the ridge; derivatives if wanted.
  double At(const BlendCoefficients& coefficients, Derivatives* derivatives) {
    ParallelFor(threads_, std::ssize(rows_), kFitRows, [&](int64_t begin, int64_t end, int worker) {
      Derivatives& piece = pieces_[static_cast<size_t>(begin / kFitRows)];
      piece = {};
      for (int64_t i = begin; i < end; ++i) {
        AddRow(coefficients, rows_[static_cast<size_t>(i)], derivatives != nullptr,
               &scratch_[static_cast<size_t>(worker)], &piece);
      }
    });
    Derivatives total;
    for (const Derivatives& piece : pieces_) total.Add(piece);
    const double scale = 1 / static_cast<double>(rows_.size());
    loss_ = total.loss * scale;
    double penalty = 0;
    for (size_t i = 0; i < kUnknowns; ++i) {
      const double value = coefficients[i / kTerms][i % kTerms];
      const double ridge = i % kTerms == 0 ? options_.constant_ridge : options_.ridge;
      const double away = i == 0 ? value - 1 / static_cast<double>(blend_.base_temperature) : value;
      penalty += ridge * away * away;
      total.gradient[i] = total.gradient[i] * scale + 2 * ridge * away;
      for (double& entry : total.hessian[i]) entry *= scale;
      total.hessian[i][i] += 2 * ridge;
    }
    if (derivatives != nullptr) *derivatives = total;
    return loss_ + penalty;
  }
  double loss() const { return loss_; }  // of the last At(), without the ridge

 private:
  void AddRow(const BlendCoefficients& coefficients, int64_t row, bool derivatives, RowEta* scratch,
              Derivatives* piece) const {
    const size_t used = options_.slopes ? kTerms : 1;
    std::array<double, kTerms> terms{1};
    if (options_.slopes) terms = TermsOf(blend_, sample_.gates(row));
    std::array<double, Blend::kParts> b{};
    for (size_t j = 0; j < Blend::kParts; ++j) {
      for (size_t m = 0; m < used; ++m) b[j] += coefficients[j][m] * terms[m];
    }
    scratch->Load(sample_, row, b);
    const auto label = static_cast<size_t>(sample_.label(row));
    piece->loss += scratch->log_total - static_cast<double>(scratch->eta[label]);
    if (!derivatives) return;
    std::array<const float*, Blend::kParts> parts{};
    for (size_t i = 0; i < parts_.size(); ++i) parts[i] = sample_.part(row, parts_[i]).data();
    std::array<double, Blend::kParts*(Blend::kParts + 3) / 2> sums{};
    BlendMoments(scratch->p.data(), parts.data(), parts_.size(), sample_.classes(), sums.data());
    std::array<double, Blend::kParts> mean{};
    size_t next = 0;
    for (size_t i = 0; i < parts_.size(); ++i) {
      mean[i] = sums[next++] / scratch->total;
      const double slope = mean[i] - static_cast<double>(parts[i][label]);
      for (size_t m = 0; m < used; ++m) piece->gradient[parts_[i] * kTerms + m] += slope * terms[m];
      for (size_t l = 0; l <= i; ++l) {
        const double covariance = sums[next++] / scratch->total - mean[i] * mean[l];
        AddBlock(covariance, terms, used, parts_[i], parts_[l], &piece->hessian);
      }
    }
  }

  // The lower half: Solve() reads no other.
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
  const std::span<const int64_t> rows_;
  const BlendFitOptions& options_;
  const int threads_;
  std::vector<size_t> parts_;        // those that are fitted
  std::vector<Derivatives> pieces_;  // one a few rows, added up in order
  std::vector<RowEta> scratch_;      // one a thread
  double loss_ = 0;
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

}  // namespace

BlendFit FitBlend(const BlendSample& sample, const Blend& blend, std::span<const int64_t> rows,
                  const BlendFitOptions& options, const BlendCoefficients& start) {
  const std::vector<size_t> unknowns = UnknownsOf(options);
  MeanNll objective(sample, blend, rows, options);
  BlendFit fit{start, 0};
  Derivatives derivatives, next_derivatives;
  double value = objective.At(fit.coefficients, &derivatives);
  fit.loss = objective.loss();
  int small_steps = 0;
  for (int iteration = 0; iteration < kMostSteps; ++iteration) {
    Vector step{};
    if (!Solve(derivatives.hessian, derivatives.gradient, unknowns, &step)) break;
    double decrement = 0;
    for (const size_t i : unknowns) decrement += derivatives.gradient[i] * step[i];
    if (!(decrement > kSmallStep)) {
      if (!std::isfinite(decrement)) break;
      fit.coefficients = Moved(fit.coefficients, step, 1);
      if (decrement < options.converged || ++small_steps == kMostSmallSteps) break;
      value = objective.At(fit.coefficients, &derivatives);
      fit.loss = objective.loss();
      continue;
    }
    double share = 1, next = 0;
    int halvings = 0;
    for (; halvings < kMostHalvings; ++halvings, share /= 2) {
      // Nearly always the whole step is taken: then its derivatives are those of the next one.
      next = objective.At(Moved(fit.coefficients, step, share), &next_derivatives);
      if (next < value) break;
    }
    if (halvings == kMostHalvings) break;  // as good as rounding allows
    fit.coefficients = Moved(fit.coefficients, step, share);
    fit.loss = objective.loss();
    value = next;
    std::swap(derivatives, next_derivatives);
  }
  return fit;
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
