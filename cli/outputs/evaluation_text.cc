#include "outputs/evaluation_text.h"

#include <algorithm>

#include "inputs/answer_options.h"

namespace resmem::cli {
namespace {

using Align = Table::Align;

std::string MethodTitle(const MethodResult& result, bool best_lambda) {
  const std::string own = result.own ? ", k = " + Count(result.parameters.k) +
                                           ", sigma = " + ShortNumber(result.parameters.sigma)
                                     : "";
  switch (result.method) {
    case Method::kBase:
      if (result.refit == Refit::kTemperature) {
        return "base at T = " + ShortNumber(result.parameters.temperature);
      }
      return result.refit == Refit::kLastLayer ? "base, last layer fitted again" : "base";
    case Method::kNearestClassMean:
      return "nearest class mean";
    case Method::kKnn:
      return "k-NN" + own;
    case Method::kKnnLm:
      if (result.own) return "kNN-LM" + own + ", lambda = " + ShortNumber(result.lambda);
      return std::string(best_lambda ? "kNN-LM, best lambda " : "kNN-LM, lambda ") +
             ShortNumber(result.lambda) + (best_lambda ? " (chosen on these rows)" : "");
    case Method::kResMem:
      return "ResMem";
    case Method::kBlend:
    case Method::kLogitBoost:
      break;
  }
  return MethodName(result.method);
}

// The best kNN-LM on these very rows: generous to it, so that ResMem is not flattered.
const MethodResult* BestKnnLm(const Evaluation& evaluation) {
  const MethodResult* best = nullptr;
  for (const MethodResult& result : evaluation.methods) {
    if (result.method != Method::kKnnLm || result.own) continue;
    if (best == nullptr || result.accuracy.correct > best->accuracy.correct) best = &result;
  }
  return best;
}

std::string AnswerTitle(Method method) {
  return method == Method::kResMem ? "ResMem" : std::string("answer: ") + MethodName(method);
}

double Share(int64_t part, int64_t total) {
  return total == 0 ? 0 : static_cast<double>(part) / static_cast<double>(total);
}

}  // namespace

Table MethodsTable(const std::vector<std::string>& last) {
  std::vector<Table::Column> columns = {
      {"method", Align::kLeft}, {"accuracy"}, {"95 % interval"}, {"gain"},
      {"95 % interval"},        {"fixed"},    {"harmed"}};
  for (const std::string& title : last) columns.push_back({title});
  return Table(std::move(columns));
}

std::vector<std::string> MethodCells(const std::string& title, const MethodResult& result,
                                     bool is_base) {
  const auto range = [](const std::string& low, const std::string& high) {
    return low + " .. " + high;
  };
  const Interval& accuracy = result.accuracy.interval;
  const PairedGain& gain = result.against_base;
  std::vector<std::string> cells = {title, Percent(result.accuracy.value),
                                    range(Points(accuracy.low), Points(accuracy.high))};
  if (is_base) {
    cells.resize(7);
    return cells;
  }
  cells.insert(cells.end(),
               {SignedPoints(gain.gain),
                range(SignedPoints(gain.interval.low), SignedPoints(gain.interval.high)),
                Count(gain.fixed), Count(gain.harmed)});
  return cells;
}

std::string MethodsText(const Evaluation& evaluation, bool every_lambda) {
  Table table = MethodsTable({"McNemar p", "NLL"});
  int64_t lambdas = 0;
  bool own = false;
  for (const MethodResult& result : evaluation.methods) {
    lambdas += result.method == Method::kKnnLm && !result.own ? 1 : 0;
    own = own || result.own;
  }
  const MethodResult* best = every_lambda || lambdas == 1 ? nullptr : BestKnnLm(evaluation);
  for (const MethodResult& result : evaluation.methods) {
    const bool swept = result.method == Method::kKnnLm && !result.own;
    if (swept && !every_lambda && (own || (best != nullptr && &result != best))) continue;
    const bool is_base = &result == &evaluation.methods.front();
    std::vector<std::string> cells =
        MethodCells(MethodTitle(result, best != nullptr), result, is_base);
    cells.push_back(is_base ? "" : PValue(result.against_base.p_value));
    if (result.nll.has_value()) cells.push_back(Fixed(*result.nll, 4));
    table.AddRow(std::move(cells));
  }
  const char* const note =
      own ? "" : "k-NN and kNN-LM at ResMem's k and sigma; resmem tune finds their own.\n";
  return table.Text() + (lambdas > 0 ? note : "");
}

std::string BetterText(const Evaluation& evaluation) {
  std::string text;
  for (const std::string& sentence : evaluation.better_rivals) text += "! " + sentence + "\n";
  return text.empty() ? "" : text + "\n";
}

std::string PairsText(const Evaluation& evaluation) {
  std::vector<size_t> places;
  for (const MethodPair& pair : evaluation.pairs) {
    for (const size_t place : {pair.left, pair.right}) {
      if (std::find(places.begin(), places.end(), place) == places.end()) places.push_back(place);
    }
  }
  if (places.size() < 3) return "";
  std::sort(places.begin(), places.end());
  const auto matrix = [&](const std::string& title, auto cell) {
    std::vector<Table::Column> columns = {{title, Align::kLeft}};
    for (size_t i = 0; i < places.size(); ++i) columns.push_back({std::to_string(i + 1)});
    Table table(std::move(columns));
    for (size_t r = 0; r < places.size(); ++r) {
      const MethodResult& result = evaluation.methods[places[r]];
      std::vector<std::string> cells = {std::to_string(r + 1) + " " +
                                        ResultName(result.method, result.refit)};
      for (size_t c = 0; c < places.size(); ++c) {
        std::string text;
        for (const MethodPair& pair : evaluation.pairs) {
          if (pair.left == places[c] && pair.right == places[r]) text = cell(pair, 1);
          if (pair.left == places[r] && pair.right == places[c]) text = cell(pair, -1);
        }
        cells.push_back(text);
      }
      table.AddRow(std::move(cells));
    }
    return table.Text();
  };
  const auto star = [](const Interval& interval) {
    return std::string(interval.low > 0 || interval.high < 0 ? "*" : " ");
  };
  return matrix("accuracy, row less column (points)",
                [&](const MethodPair& pair, int sign) {
                  return SignedPoints(sign * pair.gain.gain) + star(pair.gain.interval);
                }) +
         "\n" +
         matrix("NLL, column less row",
                [&](const MethodPair& pair, int sign) {
                  if (!pair.nll) return std::string();
                  return std::string(sign * pair.nll->value < 0 ? "" : "+") +
                         Fixed(sign * pair.nll->value, 4) + star(pair.nll->interval);
                }) +
         "Above 0 the row's method is better; * where the paired 95 % interval excludes 0.\n";
}

std::string MetricsText(const Evaluation& evaluation) {
  Table table({{"method", Align::kLeft},
               {"Brier"},
               {"ECE"},
               {"95 % interval"},
               {"AUC"},
               {"macro F1"},
               {"balanced"},
               {"top 5"}});
  bool any = false;
  for (const MethodResult& result : evaluation.methods) {
    if (!result.metrics) continue;
    any = true;
    const Metrics& metrics = *result.metrics;
    table.AddRow({ResultName(result.method, result.refit), Fixed(metrics.brier, 4),
                  Fixed(metrics.ece, 4),
                  Fixed(metrics.ece_interval.low, 4) + " .. " + Fixed(metrics.ece_interval.high, 4),
                  metrics.auc ? Fixed(*metrics.auc, 4) : "", Fixed(metrics.macro_f1, 4),
                  Percent(metrics.balanced_accuracy), Percent(metrics.top5)});
  }
  return any ? table.Text() : "";
}

std::string CalibrationText(const Evaluation& evaluation) {
  const Calibration& base = evaluation.base_calibration;
  const Calibration& resmem = evaluation.resmem_calibration;
  Table table({{"probabilities", Align::kLeft}, {"base"}, {AnswerTitle(evaluation.method)}});
  table.AddRow({"NLL (nats)", Fixed(base.nll, 4), Fixed(resmem.nll, 4)});
  table.AddRow({"Brier", Fixed(base.brier, 4), Fixed(resmem.brier, 4)});
  table.AddRow({"ECE (15 bins)", Fixed(base.ece, 4), Fixed(resmem.ece, 4)});
  if (evaluation.method != Method::kResMem) return table.Text();
  return table.Text() + "ResMem's by the calibrator " + evaluation.calibrator + "\n";
}

std::string GroupsText(const std::string& title, const std::vector<GroupResult>& groups) {
  Table table({{title, Align::kLeft},
               {"rows"},
               {"base"},
               {"with memory"},
               {"gain"},
               {"fixed"},
               {"harmed"}});
  for (const GroupResult& group : groups) {
    table.AddRow({group.name, Count(group.total), Percent(Share(group.base_correct, group.total)),
                  Percent(Share(group.resmem_correct, group.total)),
                  SignedPoints(Share(group.fixed - group.harmed, group.total)), Count(group.fixed),
                  Count(group.harmed)});
  }
  return table.Text();
}

std::string CoarseText(const CoarseAnalysis& coarse) {
  const auto line = [](int64_t same, int64_t total) {
    return Count(same) + " of " + Count(total) +
           (total == 0 ? "" : " (" + Percent(Share(same, total)) + ")");
  };
  Table table = Table::Facts();
  table.AddRow({"base's errors within the true superclass",
                line(coarse.base_errors_same_coarse, coarse.base_errors)});
  table.AddRow({"of those that ResMem fixed", line(coarse.fixed_same_coarse, coarse.fixed)});
  return table.Text();
}

std::string IntervalsText(const std::vector<IntervalJudgment>& intervals) {
  if (intervals.empty()) return "";
  Table table({{"interval", Align::kLeft},
               {"covered"},
               {"mean width"},
               {"pinball loss"},
               {"base: covered"},
               {"width"},
               {"pinball loss"}});
  for (const IntervalJudgment& judgment : intervals) {
    table.AddRow({Percent(judgment.share), Percent(Share(judgment.covered, judgment.values)),
                  ShortNumber(judgment.width), ShortNumber(judgment.pinball),
                  Percent(Share(judgment.base_covered, judgment.values)),
                  ShortNumber(judgment.base_width), ShortNumber(judgment.base_pinball)});
  }
  return "\n" + table.Text();
}

std::string RegressionText(const Evaluation::Regression& regression) {
  Table table({{"method", Align::kLeft}, {"mean squared error"}, {"mean absolute"}, {"R^2"}});
  table.AddRow({"base", ShortNumber(regression.base_mse), ShortNumber(regression.base_mae),
                Fixed(regression.base_r2, 4)});
  table.AddRow({"k-NN", ShortNumber(regression.knn_mse), ShortNumber(regression.knn_mae),
                Fixed(regression.knn_r2, 4)});
  table.AddRow({"ResMem", ShortNumber(regression.resmem_mse), ShortNumber(regression.resmem_mae),
                Fixed(regression.resmem_r2, 4)});
  return table.Text() + "error removed by ResMem: " + ShortNumber(regression.mse_reduction) +
         " (95 % interval " + ShortNumber(regression.interval.low) + " .. " +
         ShortNumber(regression.interval.high) + ")\n" + IntervalsText(regression.intervals);
}

std::string GainText(const PairedGain& gain) {
  return SignedPoints(gain.gain) + " points (95 % interval " + SignedPoints(gain.interval.low) +
         " .. " + SignedPoints(gain.interval.high) + "; " + Count(gain.fixed) + " fixed, " +
         Count(gain.harmed) + " harmed; McNemar p " + PValue(gain.p_value) + ")";
}

std::string EvaluationText(const Evaluation& evaluation) {
  const std::string text = Counted(evaluation.rows, "row") + "; " +
                           AnswerText(evaluation.method, evaluation.parameters, evaluation.task) +
                           (evaluation.leave_one_out ? "; leave-one-out" : "") + "\n\n";
  if (evaluation.regression.has_value()) return text + RegressionText(*evaluation.regression);
  return text + BetterText(evaluation) + MethodsText(evaluation, /*every_lambda=*/false) + "\n" +
         CalibrationText(evaluation) + "\n" + MetricsText(evaluation);
}

}  // namespace resmem::cli
