#include "eval/privacy/advice.h"

#include <cmath>

#include "resmem_program/readable.h"

namespace resmem {
namespace {

using namespace readable;  // NOLINT: this file writes sentences

constexpr double kTold = 0.55;        // an AUC from which on members are told apart
constexpr double kFewPoints = 0.005;  // of accuracy, that less leakage may cost

std::string AucText(const Separation& separation) {
  return "AUC " + Fixed(separation.auc, 3) + ", " + Percent(separation.tpr_at_1_percent, 1) +
         " of members at 1 % false alarms";
}

// Who knows that a clue points the wrong way turns it around.
double Told(const Separation& separation) {
  return std::abs(separation.auc - 0.5);
}

std::string ParametersText(const Parameters& parameters) {
  return "k = " + Count(parameters.k) +
         ", sigma = " + ShortNumber(static_cast<double>(parameters.sigma), 3);
}

// The most telling of what an answer's probabilities show.
const MembershipTest* Worst(const PrivacyReport& report) {
  const MembershipTest* worst = nullptr;
  for (const MembershipTest& test : report.membership) {
    if (test.method != report.method || test.clue == Clue::kDistance) continue;
    if (worst == nullptr || test.inside.auc > worst->inside.auc) worst = &test;
  }
  return worst;
}

std::string OnBase(const PrivacyReport& report) {
  const MembershipTest* base = FindTest(report, Method::kBase, Clue::kLoss);
  if (base == nullptr || base->inside.auc < kTold) return "";
  return "the base alone tells members of the memory from held-out rows (" + AucText(base->inside) +
         "): it was trained on them, or they differ from the held-out rows; no setting of the "
         "memory changes that";
}

std::string OnAnswers(const PrivacyReport& report) {
  if (report.method == Method::kBase) {
    return "the memory answers as its base does, so its answers give away no more than the base";
  }
  const MembershipTest* worst = Worst(report);
  if (worst == nullptr) return "";
  const std::string what = "what " + std::string(MethodName(report.method)) + " answers, by " +
                           ClueName(worst->clue) + ", tells members: " + AucText(worst->inside);
  if (worst->more_interval.low <= 0) {
    return what + "; that is not shown to be more than the base gives away";
  }
  return what + ", " + Signed(worst->more, 3) +
         " over the base; with the row left out it would be " + Fixed(worst->left_out.auc, 3);
}

// The setting that gives least away among those that are about as accurate.
std::string OnParameters(const PrivacyReport& report) {
  if (report.sweep.empty() || report.sweep[0].gain.auc < kTold) return "";
  const PrivacyPoint& now = report.sweep[0];
  const PrivacyPoint* best = &now;
  for (const PrivacyPoint& point : report.sweep) {
    if (point.accuracy < now.accuracy - kFewPoints) continue;
    if (Told(point.gain) < Told(best->gain)) best = &point;
  }
  if (best == &now) {
    return "of the k and sigma tried none gives less away at about the same accuracy (" +
           ParametersText(now.parameters) + ": " + AucText(now.gain) + ")";
  }
  return "in ResMem's form " + ParametersText(best->parameters) + " gives less away (" +
         AucText(best->gain) + ") than " + ParametersText(now.parameters) + " (" +
         AucText(now.gain) + "), at " + Percent(best->accuracy) + " right instead of " +
         Percent(now.accuracy) + "; a larger k and sigma give a row less weight in its own answer";
}

std::string OnDistances(const PrivacyReport& report) {
  const MembershipTest* test = FindTest(report, report.method, Clue::kDistance);
  std::string text;
  if (test != nullptr && test->inside.auc >= kTold) {
    text = "distances tell who is a member (" + AucText(test->inside) + ")";
  }
  if (report.keys.recovered > 0) {
    text += (text.empty() ? "distances" : ", and") + std::string(" give away stored keys (") +
            Count(report.keys.recovered) + " of " + Count(report.keys.tried) + " computed from " +
            Count(report.keys.queries) + " queries)";
  }
  if (text.empty()) return "";
  return text +
         ": give clients whom you do not trust with the rows the service's role 'answer', which "
         "gets probabilities only (docs/serving.md), and do not publish what 'resmem neighbors' "
         "and 'resmem explain' print";
}

std::string OnLabels(const PrivacyReport& report) {
  for (const LabelRecovery& labels : report.labels) {
    if (labels.method != report.method || labels.base_wrong == 0) continue;
    if (labels.base_wrong_recovered <= labels.base_wrong_recovered_left_out) continue;
    return "who has a member's key gets its label: of " + Counted(labels.base_wrong, "member") +
           " that the base gets wrong, " + Count(labels.base_wrong_recovered) +
           " are answered by their stored label, " + Count(labels.base_wrong_recovered_left_out) +
           " if they are left out; where labels are secret, do not memorize those rows";
  }
  return "";
}

}  // namespace

const MembershipTest* FindTest(const PrivacyReport& report, Method method, Clue clue) {
  for (const MembershipTest& test : report.membership) {
    if (test.method == method && test.clue == clue) return &test;
  }
  return nullptr;
}

std::vector<std::string> AdviceOn(const PrivacyReport& report) {
  std::vector<std::string> advice;
  for (const std::string& sentence : {OnBase(report), OnAnswers(report), OnParameters(report),
                                      OnDistances(report), OnLabels(report)}) {
    if (!sentence.empty()) advice.push_back(sentence);
  }
  advice.emplace_back(
      "these are known attacks, not a bound: a better one may find more, and only training and "
      "answering with differential privacy, which resmem does not do, gives a bound");
  return advice;
}

}  // namespace resmem
