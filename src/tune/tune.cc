#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "eval/warnings.h"
#include "resmem/tuner.h"
#include "support/checked_math.h"
#include "support/guard.h"
#include "support/text.h"
#include "tune/adoption.h"
#include "tune/blend/blend_tuning.h"
#include "tune/calibrator_choice.h"
#include "tune/choice.h"
#include "tune/grid.h"
#include "tune/grid_search.h"
#include "tune/key_choice.h"
#include "tune/rivals/rival_tuning.h"
#include "tune/validation_rows.h"

namespace resmem {
namespace {

constexpr int64_t kMostFolds = 1000;
constexpr int kMostExtensions = 3;  // of the grid

// The sums over each fold and over its others, and the points.
Status CheckSize(const ResidualMemory& memory, const TuneOptions& options, int64_t largest_k) {
  const Grid grid = FillGrid(memory.description(), options.grid, 1, memory.rows(), largest_k);
  const int64_t folds = options.folds.value_or(5);
  const int64_t copies = 2 * std::max<int64_t>(folds, 1) + 4;
  std::optional<int64_t> bytes = copies * static_cast<int64_t>(sizeof(TuningPoint));
  for (const size_t size : {grid.k.size(), grid.sigma.size(), grid.temperature.size()}) {
    if (bytes.has_value()) bytes = CheckedMultiply(*bytes, static_cast<int64_t>(size));
  }
  if (bytes.has_value() && *bytes <= options.memory_limit) return {};
  return {
      ErrorCode::kResourceExhausted,
      Text("a grid of ", grid.k.size(), " x ", grid.sigma.size(), " x ", grid.temperature.size(),
           " points with ", folds, " folds does not fit the limit of ", options.memory_limit >> 20,
           " MB; give a smaller grid, fewer folds or a higher limit")};
}

Status CheckOptions(const ResidualMemory& memory, const TuneOptions& options) {
  if (memory.rows() == 0) {
    return {ErrorCode::kInvalidArgument, "the memory is empty: there is nothing to tune"};
  }
  const int64_t folds = options.folds.value_or(0);
  if (folds < 0 || folds == 1 || folds > kMostFolds) {
    return {ErrorCode::kInvalidArgument,
            Text("folds is ", folds, "; give 0 for none, or 2 .. ", kMostFolds)};
  }
  if (!(options.fpr_limit > 0 && options.fpr_limit <= 1)) {
    return {ErrorCode::kInvalidArgument,
            Text("the limit on FPR is ", options.fpr_limit, "; it must lie above 0 and up to 1")};
  }
  const Method method = options.method;
  if (method != Method::kResMem && method != Method::kBlend && method != Method::kLogitBoost) {
    return {ErrorCode::kInvalidArgument,
            Text(MethodName(method), " cannot be fitted; give blend, logit-boost or resmem")};
  }
  if (AreTrainedOn(memory, options) && method != Method::kResMem &&
      memory.description().answer != Method::kResMem) {
    return {ErrorCode::kInvalidArgument,
            "this memory's answer was fitted on held-out rows; leave-one-out on rows that the base "
            "was trained on cannot improve it and would replace it: tune on held-out rows, or ask "
            "for ResMem's own answer (--method resmem)"};
  }
  if (options.fit_megabytes < 1 || options.fit_megabytes > TuneOptions::kMostFitMegabytes) {
    return {ErrorCode::kInvalidArgument, Text("the memory for the fit is ", options.fit_megabytes,
                                              " MB; give 1 .. ", TuneOptions::kMostFitMegabytes)};
  }
  return CheckGrid(memory.description(), options.grid);
}

// The counts of a choice on other rows than it was made on, or on the same.
PairedGain GainOf(const Grid& grid, const PointSums& sums, std::optional<size_t> point) {
  if (!point.has_value()) {
    return MakePairedGain(0, 0, sums.base_right[0], sums.rows - sums.base_right[0]);
  }
  const size_t t = *point / (grid.sigma.size() * grid.k.size());
  const int64_t fixed = sums.fixed[*point], harmed = sums.harmed[*point];
  const int64_t base_right = sums.base_right[t];
  return MakePairedGain(fixed, harmed, base_right - harmed, sums.rows - base_right - fixed);
}

double ErrorOf(const PointSums& sums, std::optional<size_t> point) {
  return point.has_value() ? sums.squared_error[*point] : sums.base_squared_error;
}

// Each fold judged by the choice that the other folds make.
FoldGains CrossValidate(const ChoiceRule& rule, const std::vector<PointSums>& folds,
                        const PointSums& all, Tuning* tuning) {
  int64_t fixed = 0, harmed = 0, both_right = 0, both_wrong = 0;
  double error = 0;
  FoldGains gains;
  const bool regression = rule.task == Task::kRegression;
  const std::vector<PointSums> others = SumsOfOthers(tuning->grid, folds);
  for (size_t i = 0; i < folds.size(); ++i) {
    const PointSums& fold = folds[i];
    const std::optional<size_t> point =
        ChoosePoint(rule, MakePoints(tuning->grid, others[i]), others[i]);
    const PairedGain gain = GainOf(tuning->grid, fold, point);
    fixed += gain.fixed;
    harmed += gain.harmed;
    both_right += gain.both_right;
    both_wrong += gain.both_wrong;
    error += ErrorOf(fold, point);
    const double better = regression ? fold.base_squared_error - ErrorOf(fold, point)
                                     : static_cast<double>(gain.fixed - gain.harmed);
    gains.push_back(better / static_cast<double>(std::max<int64_t>(fold.rows, 1)));
  }
  if (regression) {
    tuning->cross_validated_loss = error / static_cast<double>(all.rows);
  } else {
    tuning->cross_validated_gain = MakePairedGain(fixed, harmed, both_right, both_wrong);
  }
  return gains;
}

void Choose(const ChoiceRule& rule, const PointSums& all, const MemoryDescription& description,
            Tuning* tuning) {
  const std::optional<size_t> point = ChoosePoint(rule, tuning->points, all);
  if (point.has_value()) {
    tuning->chosen = tuning->points[*point].parameters;
  } else {
    tuning->chosen = description.parameters;
    tuning->chosen.k = 0;
    // The base's own probabilities, where the memory leaves the temperature open.
    if (description.form == ResidualForm::kLogits) tuning->chosen.temperature = 1;
    const bool none_admitted = RankPoints(rule, tuning->points, all.rows).empty();
    tuning->warnings.push_back(
        none_admitted ? Text("No point of the grid keeps FPR below ", rule.fpr_limit,
                             "; the choice is k = 0, the base alone.")
                      : "No point of the grid is better than the base on these rows; the choice is "
                        "k = 0, the base alone.");
  }
  if (rule.task == Task::kRegression) {
    const double rows = static_cast<double>(all.rows);
    tuning->base_loss = all.base_squared_error / rows;
    tuning->chosen_loss = ErrorOf(all, point) / rows;
  } else {
    tuning->chosen_gain = GainOf(tuning->grid, all, point);
  }
}

// More than as good: on a plateau the grid need not grow.
bool IsBetter(const ChoiceRule& rule, const Tuning& one, const Tuning& other) {
  if (rule.task == Task::kRegression) return one.chosen_loss < other.chosen_loss;
  const PairedGain &a = one.chosen_gain, &b = other.chosen_gain;
  if (rule.objective == Objective::kTprUnderFpr) return a.fixed > b.fixed;
  return a.fixed - a.harmed > b.fixed - b.harmed;
}

void Warn(const ResidualMemory& memory, const ValidationRows& rows, const TuneOptions& options,
          Tuning* tuning) {
  std::vector<std::string>& warnings = tuning->warnings;
  if (tuning->chosen.k > 0) {
    std::string edge = EdgeWarning(tuning->grid, tuning->chosen, memory.rows());
    if (!edge.empty()) warnings.push_back(std::move(edge));
  }
  if (rows.rows_at_distance_zero > 0 && !options.leave_one_out) {
    warnings.push_back(Text(rows.rows_at_distance_zero, " of ", rows.rows,
                            " rows have their own key in the memory and find their own label; tune "
                            "on other ",
                            IsOfTokens(memory) ? "text." : "rows, or with --leave-one-out."));
  }
  if (rows.train_rows > 0 && !options.leave_one_out) {
    warnings.push_back(Text(rows.train_rows, " of ", rows.rows,
                            " rows are marked train: the base has seen them, and what suits them "
                            "may not suit new rows."));
  }
  if (tuning->task == Task::kClassification) {
    const float temperature = tuning->chosen.temperature;
    std::string memorized = MemorizedWarning(memory, memory.MeanResidualMass(temperature));
    if (!memorized.empty()) warnings.push_back(std::move(memorized));
  }
}

// Why no blend can be fitted on these rows; empty where one can.
std::string WhyNoBlend(const ResidualMemory& memory, const ValidationRows& rows,
                       const TuneOptions& options) {
  if (AreTrainedOn(memory, options)) {
    return "the rows are the memory's own and the base was trained on them: a blend needs held-out "
           "rows, nothing was fitted";
  }
  if (rows.rows < TuneOptions::kFewestRows) {
    return Text("only ", rows.rows, " held-out rows: a blend takes at least ",
                TuneOptions::kFewestRows, ", nothing was fitted");
  }
  if (rows.folds >= 2) return "";
  return "without folds there is no cross-validation to support a blend, nothing was fitted";
}

Result<BlendTuning> FitAnswer(const ResidualMemory& memory, const ValidationRows& rows,
                              const TuneOptions& options) {
  BlendTuning none;
  none.method = options.method;
  none.rows = rows.rows;
  none.reason = WhyNoBlend(memory, rows, options);
  if (!none.reason.empty()) return none;
  RESMEM_ASSIGN_OR_RETURN(BlendTrial trial, TuneBlend(memory, rows, options, rows.folds));
  if (trial.tuning.blend) DecideBlend(options, &trial);
  return std::move(trial.tuning);
}

std::string AnswerWarning(const BlendTuning& blend) {
  if (!blend.blend) return Text("No ", MethodName(blend.method), ": ", blend.reason, ".");
  return Text("The memory keeps the base's answer: ", blend.reason, ".");
}

// The largest k that a choice asks for.
int64_t LargestChosenK(const Tuning& tuning) {
  int64_t k = tuning.chosen.k;
  if (tuning.blend && tuning.blend->blend) k = std::max(k, tuning.blend->blend->parameters.k);
  for (const RivalTuning& rival : tuning.rival_tunings) k = std::max(k, rival.parameters.k);
  return k;
}

// With the neighbors that one search for `largest_k` of them finds.
Result<Tuning> TuneUpTo(int64_t largest_k, const Predictor& predictor, const RowSource& source,
                        const TuneOptions& options) {
  const ResidualMemory& memory = predictor.memory();
  const MemoryDescription& description = memory.description();
  RESMEM_RETURN_IF_ERROR(CheckSize(memory, options, largest_k));
  const std::vector<KeyTransform> transforms = KeyCandidates(memory, options);
  // What is compared is searched in the same way, and other transforms have no index yet.
  const ResidualMemory exact = memory.Exact();
  const Predictor exact_predictor(exact);
  RESMEM_ASSIGN_OR_RETURN(ValidationRows rows,
                          CollectValidationRows(transforms.size() > 1 ? exact_predictor : predictor,
                                                source, options, largest_k, transforms));
  const std::string why_not = options.method == Method::kResMem
                                  ? "keys are chosen by the blend, and only ResMem was asked for"
                                  : WhyNoBlend(memory, rows, options);
  RESMEM_ASSIGN_OR_RETURN(ChosenKeys keys, ChooseKeys(memory, options, why_not, &rows));

  const auto start = std::chrono::steady_clock::now();
  Tuning tuning;
  tuning.task = description.task;
  tuning.rows = rows.rows;
  tuning.objective = options.objective;
  tuning.fpr_limit = options.fpr_limit;
  tuning.keys = std::move(keys.keys);
  tuning.grid =
      FillGrid(description, options.grid, rows.typical_distance, memory.rows(), largest_k);
  const ChoiceRule rule{description.task, options.objective, options.fpr_limit};
  std::vector<PointSums> folds;
  PointSums all;
  for (int extensions = 0;; ++extensions) {
    Tuning trial = tuning;
    // An optimum at an edge means that there may be a better one beyond it.
    if (extensions > 0 &&
        (tuning.chosen.k == 0 || !ExtendGrid(options.grid, tuning.chosen, &trial.grid))) {
      break;
    }
    RESMEM_ASSIGN_OR_RETURN(std::vector<PointSums> sums,
                            SearchGrid(memory, rows, trial.grid, options));
    PointSums total = sums[0];
    for (size_t fold = 1; fold < sums.size(); ++fold) total.Add(sums[fold]);
    trial.points = MakePoints(trial.grid, total);
    trial.warnings.clear();
    Choose(rule, total, description, &trial);
    if (extensions > 0 && !IsBetter(rule, trial, tuning)) break;
    tuning = std::move(trial);
    folds = std::move(sums);
    all = std::move(total);
    if (extensions == kMostExtensions) break;
  }
  FoldGains gains;
  if (rows.folds >= 2) gains = CrossValidate(rule, folds, all, &tuning);
  if (description.task == Task::kClassification) {
    RESMEM_ASSIGN_OR_RETURN(const CalibratorChoice calibrator,
                            ChooseCalibrator(predictor, rows, tuning.chosen, options.threads));
    tuning.calibrator = calibrator.name;
    tuning.calibrator_temperature = calibrator.temperature;
    tuning.calibrated_nll = calibrator.nll;
    RESMEM_RETURN_IF_ERROR(TuneRivals(memory, rows, tuning.grid, options, &tuning));
  }
  if (options.method != Method::kResMem) {
    tuning.blend = std::move(keys.blend);
    if (!tuning.blend) {
      RESMEM_ASSIGN_OR_RETURN(tuning.blend, FitAnswer(memory, rows, options));
    }
    if (tuning.blend->blend && tuning.blend->rows < rows.rows) {
      tuning.warnings.push_back(Text("The ", MethodName(options.method), " was fitted on ",
                                     tuning.blend->rows, " of ", rows.rows,
                                     " rows, evenly spread: what it needs of more does not fit ",
                                     options.fit_megabytes, " MB (--fit-memory)."));
    }
    if (!tuning.blend->reason.empty()) tuning.warnings.push_back(AnswerWarning(*tuning.blend));
  }
  DecideAnswer(memory, rows, options, gains, &tuning);
  Warn(memory, rows, options, &tuning);
  RESMEM_RETURN_IF_ERROR(memory.damage());
  tuning.search_seconds = rows.search_seconds;
  tuning.grid_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return tuning;
}

}  // namespace

Result<Tuning> Tune(const Predictor& predictor, const RowSource& source,
                    const TuneOptions& options) try {
  const ResidualMemory& memory = predictor.memory();
  RESMEM_RETURN_IF_ERROR(CheckOptions(memory, options));
  const int64_t usual = LargestK(options.grid, memory.rows());
  RESMEM_ASSIGN_OR_RETURN(Tuning tuning, TuneUpTo(usual, predictor, source, options));
  const int64_t more = std::min(kMostTunedK, memory.rows());
  if (!options.grid.k.empty() || more <= usual || LargestChosenK(tuning) < usual) return tuning;
  // The best k lies at the edge: there may be a better one beyond it, among neighbors that a second
  // search finds.
  Result<Tuning> wider = TuneUpTo(more, predictor, source, options);
  if (wider.status().code() == ErrorCode::kResourceExhausted) return tuning;
  if (wider.ok() && LargestChosenK(*wider) <= usual) return tuning;
  return wider;
} catch (...) {
  return CaughtException("tune on these rows");
}

}  // namespace resmem
