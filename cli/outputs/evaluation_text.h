// An evaluation as tables for people.
#ifndef RESMEM_CLI_OUTPUTS_EVALUATION_TEXT_H_
#define RESMEM_CLI_OUTPUTS_EVALUATION_TEXT_H_

#include <string>
#include <vector>

#include "console/format.h"
#include "resmem/evaluation.h"

namespace resmem::cli {

// What was evaluated, and all tables but those of groups.
std::string EvaluationText(const Evaluation& evaluation);

// The table of methods side by side, also of a language model; `last`: titles of its last columns.
Table MethodsTable(const std::vector<std::string>& last);
// A method's cells but for the last columns'; the base's are empty where they speak of a gain.
std::vector<std::string> MethodCells(const std::string& title, const MethodResult& result,
                                     bool is_base);
// Methods side by side.  `every_lambda`: kNN-LM at each lambda; else at its best one.
std::string MethodsText(const Evaluation& evaluation, bool every_lambda);
// NLL, Brier and ECE, before and after.
// The rivals that are better, a line each; empty: none.
std::string BetterText(const Evaluation& evaluation);
// Every method against every other.
std::string PairsText(const Evaluation& evaluation);
std::string MetricsText(const Evaluation& evaluation);
std::string CalibrationText(const Evaluation& evaluation);
// `title`: "class" or "slice".
std::string GroupsText(const std::string& title, const std::vector<GroupResult>& groups);
std::string CoarseText(const CoarseAnalysis& coarse);
std::string RegressionText(const Evaluation::Regression& regression);
// Empty where there are none.
std::string IntervalsText(const std::vector<IntervalJudgment>& intervals);

// "+3.20 points (95 % interval +2.52 to +3.88; 589 fixed, 270 harmed; McNemar p < 1e-6)"
std::string GainText(const PairedGain& gain);

}  // namespace resmem::cli

#endif  // RESMEM_CLI_OUTPUTS_EVALUATION_TEXT_H_
