#include "report/document.h"

namespace resmem {
namespace {

Json ToJson(const Separation& separation) {
  return {{"auc", Number(separation.auc)},
          {"low", Number(separation.interval.low)},
          {"high", Number(separation.interval.high)},
          {"tpr_at_1_percent", Number(separation.tpr_at_1_percent)},
          {"tpr_at_0_1_percent", Number(separation.tpr_at_0_1_percent)}};
}

Json ToJson(const MembershipTest& test) {
  return {{"method", MethodName(test.method)},
          {"clue", ClueName(test.clue)},
          {"inside", ToJson(test.inside)},
          {"left_out", ToJson(test.left_out)},
          {"more", Number(test.more)},
          {"more_low", Number(test.more_interval.low)},
          {"more_high", Number(test.more_interval.high)}};
}

Json ToJson(const LabelRecovery& labels) {
  return {{"method", MethodName(labels.method)},
          {"members", labels.members},
          {"recovered", labels.recovered},
          {"recovered_left_out", labels.recovered_left_out},
          {"base_wrong", labels.base_wrong},
          {"base_wrong_recovered", labels.base_wrong_recovered},
          {"base_wrong_recovered_left_out", labels.base_wrong_recovered_left_out}};
}

Json ToJson(const NearQuery& near) {
  return {{"noise", Number(near.noise)},
          {"members", near.members},
          {"nearest", near.nearest},
          {"base_wrong", near.base_wrong},
          {"recovered", near.recovered}};
}

Json ToJson(const PrivacyPoint& point) {
  return {{"parameters", ToJson(point.parameters)},
          {"own_weight", Number(point.own_weight)},
          {"gain", ToJson(point.gain)},
          {"accuracy", Number(point.accuracy)}};
}

template <typename T>
Json ListOf(const std::vector<T>& values) {
  Json list = Json::array();
  for (const T& value : values) list.push_back(ToJson(value));
  return list;
}

}  // namespace

std::string PrivacyJson(const PrivacyReport& report, const RunInfo& run) {
  Json document = StartDocument("privacy", run);
  document["members"] = report.members;
  document["held_out"] = report.held_out;
  document["method"] = MethodName(report.method);
  document["parameters"] = ToJson(report.parameters);
  document["base_accuracy"] = Number(report.base_accuracy);
  document["accuracy"] = Number(report.accuracy);
  document["membership"] = ListOf(report.membership);
  document["labels"] = ListOf(report.labels);
  document["near"] = ListOf(report.near);
  document["keys"] = {{"obstacle", report.keys.obstacle},
                      {"tried", report.keys.tried},
                      {"recovered", report.keys.recovered},
                      {"median_error", Number(report.keys.median_error)},
                      {"queries", report.keys.queries}};
  document["sweep"] = ListOf(report.sweep);
  document["advice"] = report.advice;
  document["warnings"] = report.warnings;
  return WriteDocument(document);
}

}  // namespace resmem
