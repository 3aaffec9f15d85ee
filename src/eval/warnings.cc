#include "eval/warnings.h"

#include <algorithm>
#include <cstdio>

#include "support/text.h"

namespace resmem {
namespace {

constexpr int64_t kRowsToTellChance = 100;

std::string Points(double share) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%+.2f", 100 * share);
  return buffer;
}

// A base that answers no better than a guess was most likely given the wrong rows.
void Chance(const Evaluation& evaluation, int64_t classes, std::vector<std::string>* warnings) {
  const Accuracy& base = evaluation.methods.front().accuracy;
  const double guess = 1 / static_cast<double>(classes);
  // Half as many again as guessing, but with few classes that would be a fair model.
  const double about_chance = std::min(1.5 * guess, guess + 0.05);
  if (classes < 2 || base.total <= kRowsToTellChance || base.value > about_chance) return;
  warnings->push_back(Text("The base is right on ", base.correct, " of ", base.total,
                           " rows, about what guessing among ", classes,
                           " classes gives: the labels or the logits probably do not belong to "
                           "these rows; check their order and the numbering of the classes."));
}

void Effect(const Evaluation& evaluation, std::vector<std::string>* warnings) {
  const bool regression = evaluation.regression.has_value();
  const Interval interval = regression ? evaluation.regression->interval : evaluation.gain.interval;
  const std::string range =
      regression ? Text("(95 % interval of the reduction of the mean squared error: ", interval.low,
                        " to ", interval.high, ")")
                 : Text("(95 % interval of the gain: ", Points(interval.low), " to ",
                        Points(interval.high), " points)");
  if (interval.high < 0) {
    warnings->push_back(Text("The memory harms on these rows ", range, "; tune ",
                             regression ? "k and sigma" : "k, sigma and T",
                             " on validation rows, or keep the base alone."));
  } else if (interval.low <= 0) {
    warnings->push_back(Text("These rows do not show that the memory helps ", range,
                             "; more rows would narrow the interval."));
  }
}

}  // namespace

std::string MemorisedWarning(const ResidualMemory& memory, double mean_residual_mass) {
  if (memory.rows() == 0 || mean_residual_mass >= kMemorisedMass) return "";
  if (memory.description().cross_fitted) {
    return Text("The base is almost never wrong on the memory's rows (mean residual mass ",
                mean_residual_mass, " of 1), so the memory has little to add.");
  }
  return Text(
      "The base has memorised its training rows: the memory's mean residual mass is ",
      mean_residual_mass,
      " of 1, so it has almost nothing to add; try larger T (resmem tune) first, then logits "
      "from models that had not seen the row (--out-of-fold-logits).");
}

std::vector<std::string> EvaluationWarnings(const ResidualMemory& memory,
                                            const Evaluation& evaluation, int64_t train_rows,
                                            int64_t validation_rows) {
  std::vector<std::string> warnings;
  if (evaluation.task == Task::kClassification) {
    Chance(evaluation, memory.description().outputs, &warnings);
  }
  if (memory.rows() == 0) {
    warnings.push_back("The memory is empty: every answer is the base's.");
    return warnings;
  }
  if (evaluation.parameters.k == 0) {
    warnings.push_back("k is 0: every answer is the base's.");
    return warnings;
  }
  if (evaluation.task == Task::kClassification) {
    std::string memorised = MemorisedWarning(memory, evaluation.mean_residual_mass);
    if (!memorised.empty()) warnings.push_back(std::move(memorised));
  }
  if (evaluation.rows_at_distance_zero > 0 && !evaluation.leave_one_out) {
    warnings.push_back(Text(evaluation.rows_at_distance_zero, " of ", evaluation.rows,
                            " rows have their own key in the memory: they were memorised or are "
                            "copies, and the result is too good; evaluate other rows, or use "
                            "--leave-one-out."));
  }
  if (train_rows > 0 && !evaluation.leave_one_out) {
    warnings.push_back(Text(train_rows, " of ", evaluation.rows,
                            " rows are marked train: the base has seen them, and the result is too "
                            "good."));
  }
  if (validation_rows > 0 && memory.description().tuned) {
    warnings.push_back(Text(validation_rows, " of ", evaluation.rows,
                            " rows are marked validation and the memory is tuned: where the "
                            "choice was made on them the result is too good."));
  }
  Effect(evaluation, &warnings);
  return warnings;
}

}  // namespace resmem
