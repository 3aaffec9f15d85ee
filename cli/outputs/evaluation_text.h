// An evaluation as tables for people.
#ifndef RESMEM_CLI_OUTPUTS_EVALUATION_TEXT_H_
#define RESMEM_CLI_OUTPUTS_EVALUATION_TEXT_H_

#include <string>
#include <vector>

#include "resmem/evaluation.h"

namespace resmem::cli {

// Methods side by side.  `every_lambda`: kNN-LM at each lambda; else at its best one.
std::string MethodsText(const Evaluation& evaluation, bool every_lambda);
// NLL, Brier and ECE, before and after.
std::string CalibrationText(const Evaluation& evaluation);
// `title`: "class" or "slice".
std::string GroupsText(const std::string& title, const std::vector<GroupResult>& groups);
std::string CoarseText(const CoarseAnalysis& coarse);
std::string RegressionText(const Evaluation::Regression& regression);

// "+3.20 points (95 % interval +2.52 to +3.88; 589 fixed, 270 harmed; McNemar p < 1e-6)"
std::string GainText(const PairedGain& gain);

}  // namespace resmem::cli

#endif  // RESMEM_CLI_OUTPUTS_EVALUATION_TEXT_H_
