#include "eval/warnings.h"

#include <algorithm>

#include "resmem_program/readable.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr int64_t kRowsToTellChance = 100;

// A base that answers no better than a guess was most likely given the wrong rows.
void Chance(const Evaluation& evaluation, int64_t classes, std::vector<std::string>* warnings) {
  const Accuracy& base = evaluation.methods.front().accuracy;
  const double guess = 1 / static_cast<double>(classes);
  // Half as many again as guessing, but with few classes that would be a fair model.
  const double about_chance = std::min(1.5 * guess, guess + 0.05);
  if (classes < 2 || base.total <= kRowsToTellChance || base.value > about_chance) return;
  warnings->push_back(Text("The base is right on ", readable::Count(base.correct), " of ",
                           readable::Count(base.total), " rows, about what guessing among ",
                           classes,
                           " classes gives: the labels or the logits probably do not belong to "
                           "these rows; check their order and the numbering of the classes."));
}

// Right answers and likelihoods may go apart.
void Trade(const Evaluation& evaluation, std::vector<std::string>* warnings) {
  const double before = evaluation.base_calibration.nll, after = evaluation.resmem_calibration.nll;
  const int64_t more_right = evaluation.gain.fixed - evaluation.gain.harmed;
  if (more_right > 0 && after > before) {
    warnings->push_back(Text(
        "More answers are right, but their probabilities are worse: NLL ", after, ", the base's ",
        before,
        evaluation.method == Method::kResMem
            ? ". Where probabilities count, tune the memory on held-out rows (resmem tune), and "
              "it answers by what is better in both, or as the base."
            : "."));
  }
  if (more_right < 0 && after < before) {
    warnings->push_back(Text("The probabilities are better (NLL ", after, ", the base's ", before,
                             "), but fewer answers are right."));
  }
}

}  // namespace

bool IsOfTokens(const ResidualMemory& memory) {
  return memory.description().notes.contains(kTokensNote);
}

std::vector<std::string> BetterRivals(const Evaluation& evaluation) {
  std::vector<std::string> sentences;
  for (const MethodPair& pair : evaluation.pairs) {
    // The base and the paper's form are told of elsewhere.
    const MethodResult& rival = evaluation.methods[pair.left];
    const bool is_rival = rival.method != Method::kResMem &&
                          (rival.method != Method::kBase || rival.refit != Refit::kNone);
    if (!is_rival || pair.right + 1 != evaluation.methods.size()) continue;
    std::string by;
    if (pair.gain.interval.high < 0) {
      by = Text("accuracy by ", readable::Points(-pair.gain.gain), " points (95 % interval ",
                readable::Points(-pair.gain.interval.high), " to ",
                readable::Points(-pair.gain.interval.low), ")");
    }
    if (pair.nll && pair.nll->interval.high < 0) {
      by += Text(by.empty() ? "" : " and ", "NLL by ", readable::Fixed(-pair.nll->value, 4), " (",
                 readable::Fixed(-pair.nll->interval.high, 4), " to ",
                 readable::Fixed(-pair.nll->interval.low, 4), ")");
    }
    if (by.empty()) continue;
    sentences.push_back(
        Text(ResultName(rival.method, rival.refit), " is better than the memory's answer: ", by));
  }
  return sentences;
}

std::string EffectRange(const Evaluation& evaluation) {
  if (!evaluation.regression) {
    const Interval interval = evaluation.gain.interval;
    return Text("(95 % interval of the gain: ", readable::SignedPoints(interval.low), " to ",
                readable::SignedPoints(interval.high), " points)");
  }
  const Interval interval = evaluation.regression->interval;
  return Text("(95 % interval of the reduction of the mean squared error: ", interval.low, " to ",
              interval.high, ")");
}

std::string EffectWarning(const Evaluation& evaluation) {
  const bool regression = evaluation.regression.has_value();
  const Interval interval = regression ? evaluation.regression->interval : evaluation.gain.interval;
  if (interval.high < 0) {
    return Text("The memory harms on these rows ", EffectRange(evaluation), "; tune ",
                regression ? "k and sigma" : "k, sigma and T",
                " on validation rows, or keep the base alone.");
  }
  if (interval.low > 0) return "";
  return Text("These rows do not show that the memory helps ", EffectRange(evaluation),
              "; more rows would narrow the interval.");
}

std::string MemorizedWarning(const ResidualMemory& memory, double mean_residual_mass) {
  if (memory.rows() == 0 || mean_residual_mass >= kMemorizedMass) return "";
  if (memory.description().cross_fitted) {
    return Text("The base is almost never wrong on the memory's rows (mean residual mass ",
                readable::Fixed(mean_residual_mass, 4), " of 1), so the memory has little to add.");
  }
  const char* advice =
      IsOfTokens(memory) ? "memorize text that the model did not learn from, or with a larger T "
                           "(resmem lm memorize --temperature)."
      : memory.description().form != ResidualForm::kLogits
          ? "memorize again with a larger T (resmem memorize --temperature), or logits from models "
            "that had not seen the row (--out-of-fold-logits)."
          : "try larger T (resmem tune) first, then logits from models that had not seen the row "
            "(resmem memorize --out-of-fold-logits).";
  return Text("The base has memorized its training rows: the memory's mean residual mass is ",
              readable::Fixed(mean_residual_mass, 4), " of 1, so it has almost nothing to add; ",
              advice);
}

std::vector<std::string> EvaluationWarnings(const ResidualMemory& memory,
                                            const Evaluation& evaluation, int64_t validation_rows) {
  const std::string of_rows = Text(" of ", readable::Count(evaluation.rows), " rows ");
  std::vector<std::string> warnings;
  if (evaluation.task == Task::kClassification) {
    Chance(evaluation, memory.description().outputs, &warnings);
  }
  if (memory.rows() == 0) {
    warnings.push_back("The memory is empty: every answer is the base's.");
    return warnings;
  }
  if (evaluation.method == Method::kBase) {
    warnings.push_back(
        "The memory answers as the base: tuning found nothing better (resmem info tells why).");
    return warnings;
  }
  if (evaluation.parameters.k == 0) {
    warnings.push_back("k is 0: every answer is the base's.");
    return warnings;
  }
  if (evaluation.task == Task::kClassification) {
    std::string memorized = MemorizedWarning(memory, evaluation.mean_residual_mass);
    if (!memorized.empty()) warnings.push_back(std::move(memorized));
  }
  if (evaluation.rows_at_distance_zero > 0 && !evaluation.leave_one_out) {
    warnings.push_back(Text(readable::Count(evaluation.rows_at_distance_zero), of_rows,
                            "have their own key in the memory: they were memorized or are copies, "
                            "and the result is too optimistic; give other ",
                            IsOfTokens(memory)
                                ? "text."
                                : "rows, or evaluate the memory's own, leaving each one out "
                                  "(resmem eval --leave-one-out, resmem doctor without --data)."));
  }
  const bool trained_on = evaluation.train_rows > 0 && !evaluation.leave_one_out;
  if (trained_on) {
    warnings.push_back(Text(readable::Count(evaluation.train_rows), of_rows,
                            "are marked train: the base has seen them, and neither its accuracy "
                            "nor the gain is that of new rows."));
  }
  if (validation_rows > 0 && memory.description().tuned) {
    warnings.push_back(Text(readable::Count(validation_rows), of_rows,
                            "are marked validation and the memory is tuned: if it was tuned on "
                            "them, the result is too optimistic."));
  }
  const std::string effect = EffectWarning(evaluation);
  if (!trained_on && !effect.empty()) warnings.push_back(effect);
  if (!trained_on && evaluation.task == Task::kClassification) Trade(evaluation, &warnings);
  return warnings;
}

bool IsLessRight(const Evaluation& evaluation) {
  return evaluation.regression ? evaluation.regression->mse_reduction < 0
                               : evaluation.gain.harmed > evaluation.gain.fixed;
}

bool HasWorseNll(const Evaluation& evaluation) {
  return !evaluation.regression &&
         evaluation.resmem_calibration.nll > evaluation.base_calibration.nll;
}

}  // namespace resmem
