#include "tune/compression_choice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "support/random.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr double kNormal95 = 1.959963984540054;

// Mean of differences and its standard error.
struct Moments {
  double value = 0, error = 0;
};
Moments MeanOfDifferences(const std::vector<double>& values) {
  Moments mean;
  const auto count = static_cast<double>(values.size());
  for (const double value : values) mean.value += value / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean.value) * (value - mean.value);
  if (values.size() > 1) mean.error = std::sqrt(squares / (count - 1) / count);
  return mean;
}

double PerplexityLoss(double nll_difference) {
  return 100 * std::expm1(nll_difference);
}

// Differences of rows, form less own, to the loss.
CompressionLoss LossOf(const std::vector<double>& wrong, const std::vector<double>& nll) {
  CompressionLoss loss;
  const Moments points = MeanOfDifferences(wrong), logarithm = MeanOfDifferences(nll);
  const double width = kNormal95 * points.error, nll_width = kNormal95 * logarithm.error;
  loss.points = 100 * points.value;
  loss.points_interval = {100 * (points.value - width), 100 * (points.value + width)};
  loss.perplexity = PerplexityLoss(logarithm.value);
  loss.perplexity_interval = {PerplexityLoss(logarithm.value - nll_width),
                              PerplexityLoss(logarithm.value + nll_width)};
  return loss;
}

class Chooser {
 public:
  Chooser(const std::vector<JudgedForm>& forms, const CompressionOptions& options)
      : forms_(forms), options_(options), fold_of_(forms.front().outcome->right.size()) {
    std::vector<size_t> order(fold_of_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    Random random(options.seed);
    for (size_t i = order.size(); i > 1; --i) {
      std::swap(order[i - 1], order[random.Below(static_cast<uint64_t>(i))]);
    }
    for (size_t i = 0; i < order.size(); ++i) {
      fold_of_[order[i]] = static_cast<int>(i % static_cast<size_t>(options.folds));
    }
  }

  // Of all rows (fold -1), or of those outside a fold.
  CompressionLoss Loss(size_t form, int without) const {
    std::vector<double> wrong, nll;
    for (size_t row = 0; row < fold_of_.size(); ++row) {
      if (fold_of_[row] != without) AddDifference(form, row, &wrong, &nll);
    }
    return LossOf(wrong, nll);
  }

  size_t Smallest(int without, double strictness) const {
    size_t best = 0;
    for (size_t form = 1; form < forms_.size(); ++form) {
      if (forms_[form].bytes >= forms_[best].bytes) continue;
      if (IsWithin(Loss(form, without), strictness)) best = form;
    }
    return best;
  }

  bool IsWithin(const CompressionLoss& loss, double strictness) const {
    return loss.points <= strictness * options_.loss &&
           loss.perplexity <= strictness * options_.perplexity_loss;
  }

  // Each row by the form that was chosen without its fold.
  CompressionLoss CrossValidated(double strictness) const {
    std::vector<double> wrong, nll;
    for (int fold = 0; fold < options_.folds; ++fold) {
      const size_t form = Smallest(fold, strictness);
      for (size_t row = 0; row < fold_of_.size(); ++row) {
        if (fold_of_[row] == fold) AddDifference(form, row, &wrong, &nll);
      }
    }
    return LossOf(wrong, nll);
  }

 private:
  void AddDifference(size_t form, size_t row, std::vector<double>* wrong,
                     std::vector<double>* nll) const {
    const FormOutcome& own = *forms_.front().outcome;
    const FormOutcome& other = *forms_[form].outcome;
    wrong->push_back(static_cast<double>(own.right[row]) - static_cast<double>(other.right[row]));
    nll->push_back(other.nll[row] - own.nll[row]);
  }

  const std::vector<JudgedForm>& forms_;
  const CompressionOptions& options_;
  std::vector<int> fold_of_;
};

double MeanOfOutcome(const auto& values) {
  double sum = 0;
  for (const auto value : values) sum += static_cast<double>(value);
  return sum / static_cast<double>(values.size());
}

}  // namespace

Status CheckCompressionOptions(const CompressionOptions& options) {
  const auto refuse = [](const std::string& message) {
    return Status(ErrorCode::kInvalidArgument, message);
  };
  if (!(options.loss >= 0 && options.loss <= 100)) {
    return refuse(Text("the loss is ", options.loss, " points; allowed are 0 to 100"));
  }
  if (!(options.perplexity_loss >= 0 && std::isfinite(options.perplexity_loss))) {
    return refuse(Text("the perplexity loss is ", options.perplexity_loss,
                       " percent; it must be a number of 0 or more"));
  }
  if (options.folds < 2) return refuse(Text(options.folds, " folds were asked, at least 2 are"));
  if (options.shares.empty() || options.least.empty()) {
    return refuse("no share or no least mass is to be tried; name at least one of each");
  }
  for (const float share : options.shares) {
    if (share > 0 && share <= 1) continue;
    return refuse(Text("a share of the mass is ", share, "; it must be above 0, at most 1"));
  }
  for (const float least : options.least) {
    if (least >= 0 && least <= 1) continue;
    return refuse(Text("a least mass is ", least, "; allowed are 0 to 1"));
  }
  return {};
}

Result<Compression> ChooseForm(const std::vector<JudgedForm>& forms,
                               const CompressionOptions& options) {
  const size_t rows = forms.front().outcome->right.size();
  if (rows < static_cast<size_t>(options.folds)) {
    return Status(ErrorCode::kBadData, Text(rows, " rows were given for ", options.folds,
                                            " folds; give at least as many held-out rows"));
  }
  const Chooser chooser(forms, options);
  Compression result;
  result.judged = static_cast<int64_t>(rows);
  result.bytes = forms.front().bytes;
  result.accuracy = MeanOfOutcome(forms.front().outcome->right);
  result.nll = MeanOfOutcome(forms.front().outcome->nll);
  size_t chosen = 0;
  // A choice looks better on the rows it was made on: where the fold that was left out shows that
  // it loses more than asked, less is allowed.
  for (const double strictness : std::array{1.0, 0.75, 0.5, 0.25, 0.0}) {
    result.strictness = strictness;
    result.cross_validated = chooser.CrossValidated(strictness);
    chosen = chooser.Smallest(/*without=*/-1, strictness);
    if (chooser.IsWithin(result.cross_validated, 1)) break;
    chosen = 0;
  }
  if (chosen == 0) result.cross_validated = {};
  std::vector<size_t> order(forms.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin() + 1, order.end(),
                   [&](size_t a, size_t b) { return forms[a].bytes > forms[b].bytes; });
  for (const size_t form : order) {
    if (form == chosen) result.chosen = result.points.size();
    const FormOutcome& outcome = *forms[form].outcome;
    result.points.push_back({forms[form].form, forms[form].bytes, MeanOfOutcome(outcome.right),
                             MeanOfOutcome(outcome.nll), chooser.Loss(form, -1)});
  }
  return result;
}

}  // namespace resmem
