#include "outputs/evaluation_text.h"

namespace resmem::cli {
namespace {

using Align = Table::Align;

std::string MethodTitle(const MethodResult& result, bool best_lambda) {
  switch (result.method) {
    case Method::kBase:
      return "base";
    case Method::kNearestClassMean:
      return "nearest class mean";
    case Method::kKnn:
      return "k-NN";
    case Method::kKnnLm:
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
    if (result.method != Method::kKnnLm) continue;
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
  for (const MethodResult& result : evaluation.methods) lambdas += result.method == Method::kKnnLm;
  const MethodResult* best = every_lambda || lambdas == 1 ? nullptr : BestKnnLm(evaluation);
  for (const MethodResult& result : evaluation.methods) {
    if (result.method == Method::kKnnLm && best != nullptr && &result != best) continue;
    const bool is_base = &result == &evaluation.methods.front();
    std::vector<std::string> cells =
        MethodCells(MethodTitle(result, best != nullptr), result, is_base);
    cells.push_back(is_base ? "" : PValue(result.against_base.p_value));
    if (result.nll.has_value()) cells.push_back(Fixed(*result.nll, 4));
    table.AddRow(std::move(cells));
  }
  return table.Text();
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

std::string RegressionText(const Evaluation::Regression& regression) {
  Table table({{"method", Align::kLeft}, {"mean squared error"}, {"R^2"}});
  table.AddRow({"base", ShortNumber(regression.base_mse), Fixed(regression.base_r2, 4)});
  table.AddRow({"k-NN", ShortNumber(regression.knn_mse), Fixed(regression.knn_r2, 4)});
  table.AddRow({"ResMem", ShortNumber(regression.resmem_mse), Fixed(regression.resmem_r2, 4)});
  return table.Text() + "error removed by ResMem: " + ShortNumber(regression.mse_reduction) +
         " (95 % interval " + ShortNumber(regression.interval.low) + " .. " +
         ShortNumber(regression.interval.high) + ")\n";
}

std::string GainText(const PairedGain& gain) {
  return SignedPoints(gain.gain) + " points (95 % interval " + SignedPoints(gain.interval.low) +
         " .. " + SignedPoints(gain.interval.high) + "; " + Count(gain.fixed) + " fixed, " +
         Count(gain.harmed) + " harmed; McNemar p " + PValue(gain.p_value) + ")";
}

}  // namespace resmem::cli
