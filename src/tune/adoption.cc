#include "tune/adoption.h"

#include <cmath>
#include <string>

#include "eval/statistics.h"
#include "resmem_program/readable.h"
#include "support/text.h"

namespace resmem {
namespace {

std::string Unsupported(const std::string& figures) {
  return "cross-validation does not support ResMem's values: " + figures;
}

// Why ResMem at the chosen point may not be the answer; empty: it may.
std::string Obstacle(const ValidationRows& rows, const TuneOptions& options, const FoldGains& gains,
                     const Tuning& tuning) {
  if (rows.rows < TuneOptions::kFewestRows) {
    return Text("only ", rows.rows, " held-out rows, nothing is fitted on fewer than ",
                TuneOptions::kFewestRows);
  }
  if (rows.folds < 2) {
    return options.method == Method::kResMem
               ? ""
               : "without folds there is no cross-validation to support ResMem's values";
  }
  if (tuning.chosen.k == 0) return "no point of the grid is better than the base";
  if (tuning.task == Task::kRegression) {
    const Interval less = MeanInterval(gains, {});
    if (less.low > 0) return "";
    return Unsupported(Text("the squared error falls by ", (less.low + less.high) / 2,
                            " (95 % interval over the folds ", less.low, " to ", less.high, ")"));
  }
  const PairedGain& gain = *tuning.cross_validated_gain;
  if (tuning.objective == Objective::kTprUnderFpr && !(gain.fpr < tuning.fpr_limit)) {
    return Unsupported(Text(readable::Points(gain.fpr), " % of the rows are harmed, not below ",
                            readable::Points(tuning.fpr_limit), " %"));
  }
  if (gain.interval.low > 0) return "";
  return Unsupported(Text("accuracy changes by ", readable::SignedPoints(gain.gain),
                          " points (95 % interval ", readable::SignedPoints(gain.interval.low),
                          " to ", readable::SignedPoints(gain.interval.high), ")"));
}

// Whether rows that cross-validation judged tell that the base is the better answer.
bool FallsToBase(const ResidualMemory& memory, const ValidationRows& rows,
                 const TuneOptions& options) {
  return options.method == Method::kResMem && rows.rows >= TuneOptions::kFewestRows &&
         rows.folds >= 2 && !AreTrainedOn(memory, options) &&
         memory.description().answer == Method::kResMem;
}

}  // namespace

bool AreTrainedOn(const ResidualMemory& memory, const TuneOptions& options) {
  return options.leave_one_out && !memory.description().cross_fitted;
}

void DecideAnswer(const ResidualMemory& memory, const ValidationRows& rows,
                  const TuneOptions& options, const FoldGains& gains, Tuning* tuning) {
  // Tokens of one document are not independent, and its folds are whole documents.
  if (options.whole_slices && tuning->cross_validated_gain && gains.size() >= 2) {
    const double half = MeanInterval(gains, {}).high - MeanInterval(gains, {}).low;
    PairedGain& gain = *tuning->cross_validated_gain;
    gain.interval = {gain.gain - half / 2, gain.gain + half / 2};
  }
  const bool only_resmem = options.method == Method::kResMem;
  tuning->resmem_reason = Obstacle(rows, options, gains, *tuning);
  if (tuning->blend && tuning->blend->blend) {
    tuning->answer = tuning->blend->adopted ? tuning->blend->method : Method::kBase;
    return;
  }
  if (tuning->resmem_reason.empty() &&
      (only_resmem || memory.description().answer == Method::kResMem)) {
    tuning->answer = Method::kResMem;
    if (rows.folds < 2) {
      tuning->warnings.push_back(
          "ResMem's values are the best on the rows that they were chosen on, and nothing else "
          "supports them: without folds there is no cross-validation (--folds).");
    }
    return;
  }
  const std::string& reason = tuning->resmem_reason;
  if (FallsToBase(memory, rows, options)) {
    tuning->answer = Method::kBase;
    tuning->warnings.push_back(Text("The memory keeps the base's answer: ", reason, "."));
    return;
  }
  // Keys belong to the answer that was fitted on them.
  if (tuning->keys.chosen != tuning->keys.former) {
    tuning->keys.chosen = tuning->keys.former;
    tuning->keys.reason = "nothing was fitted on other keys";
  }
  // Too few rows are told of with the blend.
  const bool say_why = only_resmem || rows.rows >= TuneOptions::kFewestRows;
  tuning->warnings.push_back(Text("Nothing is stored, the memory answers as before",
                                  say_why && !reason.empty() ? ": " + reason : "", "."));
}

}  // namespace resmem
