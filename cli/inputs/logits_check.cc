#include "inputs/logits_check.h"

#include <algorithm>
#include <cmath>

#include "console/format.h"
#include "resmem/data/dataset.h"
#include "resmem/predictor.h"

namespace resmem::cli {

bool AllProbabilities(MatrixView logits) {
  for (int64_t row = 0; row < logits.rows; ++row) {
    if (!LooksLikeProbabilities(logits.row_span(row))) return false;
  }
  return logits.columns >= 2;
}

RowSource LogitsCheck::Watch(const RowSource& rows) {
  return RowSource(rows.rows(), [this, rows](const RowSource::Use& use) {
    return rows.Read([&](int64_t begin, const Rows& block) {
      Look(block);
      return use(begin, block);
    });
  });
}

void LogitsCheck::Look(const Rows& block) {
  classes_ = block.logits.columns;
  rows_ += block.count();
  for (int64_t row = 0; row < block.count(); ++row) {
    const std::span<const float> logits = block.logits.row_span(row);
    correct_ += ArgMax(logits) == block.labels[static_cast<size_t>(row)];
    all_probabilities_ = all_probabilities_ && LooksLikeProbabilities(logits);
  }
}

double LogitsCheck::accuracy() const {
  return rows_ == 0 ? 0 : static_cast<double>(correct_) / static_cast<double>(rows_);
}

void LogitsCheck::Warn(Console& console) const {
  if (rows_ > 0 && all_probabilities_) console.Warn(kProbabilitiesAsked);
  WarnOfChance(correct_, rows_, classes_, console);
}

void WarnOfChance(int64_t correct, int64_t rows, int64_t classes, Console& console) {
  constexpr int64_t kFewRows = 100;  // on which anything may happen
  if (rows <= kFewRows || classes < 2) return;
  const double chance = 1 / static_cast<double>(classes);
  const double accuracy = static_cast<double>(correct) / static_cast<double>(rows);
  if (accuracy <= std::min(1.5 * chance, chance + 0.05)) {  // as resmem eval judges it
    console.Warn("the base is right on " + Percent(accuracy) + " of these rows, about what " +
                 "guessing among " + Count(classes) +
                 " classes gives: the labels or the logits probably do not belong to these rows; " +
                 "check their order and the numbering of the classes");
  }
}

}  // namespace resmem::cli
