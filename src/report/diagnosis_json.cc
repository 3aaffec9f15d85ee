#include "report/document.h"

namespace resmem {
namespace {

Json ToJson(const IndexCheck& check) {
  return {{"queries", check.queries},
          {"k", check.k},
          {"asked", Number(check.asked)},
          {"recall", Number(check.recall)},
          {"standard_error", Number(check.standard_error)},
          {"recall_low", Number(check.low)},
          {"recall_least", Number(check.least)},
          {"index_seconds", Number(check.index_seconds)},
          {"exact_seconds", Number(check.exact_seconds)}};
}

void AddJudgement(const Diagnosis& diagnosis, Json* document) {
  const Evaluation& evaluation = *diagnosis.evaluation;
  (*document)["rows"] = evaluation.rows;
  (*document)["leave_one_out"] = evaluation.leave_one_out;
  (*document)["method"] = MethodName(evaluation.method);
  if (evaluation.regression) {
    (*document)["base_mse"] = Number(evaluation.regression->base_mse);
    (*document)["resmem_mse"] = Number(evaluation.regression->resmem_mse);
  } else {
    (*document)["base_accuracy"] = Number(evaluation.methods.front().accuracy.value);
    (*document)["resmem_accuracy"] = Number(evaluation.methods.back().accuracy.value);
    (*document)["gain"] = resmem::ToJson(evaluation.gain);
  }
  if (diagnosis.exact_evaluation) (*document)["lost"] = Number(diagnosis.lost);
}

}  // namespace

std::string DiagnosisJson(const Diagnosis& diagnosis, const RunInfo& run) {
  Json document = StartDocument("diagnosis", run);
  if (diagnosis.index) document["index"] = ToJson(*diagnosis.index);
  if (diagnosis.index_on_given) document["index_on_given"] = ToJson(*diagnosis.index_on_given);
  if (diagnosis.evaluation) AddJudgement(diagnosis, &document);
  document["judged"] = diagnosis.judged;
  document["worse"] = diagnosis.worse;
  document["verdict"] = diagnosis.verdict;
  document["advice"] = diagnosis.advice;
  return WriteDocument(document);
}

}  // namespace resmem
