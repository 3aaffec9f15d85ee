// Steps that judge on text: every method at several parameters from one neighbor pass.
#include "reproduce/lm/judge.h"

#include <algorithm>
#include <cmath>

#include "console/interrupt.h"
#include "reproduce/lm/experiments.h"
#include "resmem/tuner.h"

namespace resmem::cli::reproduce::lm {
namespace {

double Share(int64_t part, int64_t total) {
  return static_cast<double>(part) / static_cast<double>(std::max<int64_t>(total, 1));
}

Json AccuracyJson(const TokenEvaluation& evaluation, int64_t right, const Interval& interval) {
  return {{"value", Share(right, evaluation.rows)},
          {"correct", right},
          {"total", evaluation.rows},
          {"low", interval.low},
          {"high", interval.high}};
}

// 0.2 and not 0.200000003.
double Decimal(float value) {
  return std::round(double{value} * 1e6) / 1e6;
}

// Intervals are by documents.
Json MethodJson(const TokenEvaluation& evaluation, const TokenMethodResult& method) {
  const DocumentIntervals intervals = evaluation.Intervals(method, evaluation.base());
  Json json = {{"method", MethodName(method.method)}};
  if (method.method == Method::kKnnLm) json["lambda"] = Decimal(method.lambda);
  json["accuracy"] = AccuracyJson(evaluation, method.right, intervals.resmem_accuracy);
  json["gain"] = {{"value", Share(method.fixed - method.harmed, evaluation.rows)},
                  {"low", intervals.gain.low},
                  {"high", intervals.gain.high},
                  {"tpr", Share(method.fixed, evaluation.rows)},
                  {"fpr", Share(method.harmed, evaluation.rows)},
                  {"fixed", method.fixed},
                  {"harmed", method.harmed}};
  if (method.nll > 0) {
    json["perplexity"] = std::exp(method.nll);
    json["floored"] = method.floored;
  }
  return json;
}

}  // namespace

Json ToJson(const TokenEvaluation& evaluation) {
  Json methods = Json::array(), by_document = Json::array();
  for (const TokenMethodResult& method : evaluation.methods) {
    methods.push_back(MethodJson(evaluation, method));
  }
  for (size_t i = 0; i < evaluation.document_rows.size(); ++i) {
    by_document.push_back({evaluation.document_rows[i], evaluation.base().document_right[i],
                           evaluation.resmem().document_right[i]});
  }
  return {{"parameters", reproduce::ToJson(evaluation.parameters)},
          {"rows", evaluation.rows},
          {"documents", evaluation.document_rows.size()},
          {"methods", std::move(methods)},
          {"by_document", std::move(by_document)}};
}

Json DifferenceJson(const TokenEvaluation& evaluation, const TokenMethodResult& method,
                    const TokenMethodResult& other) {
  const DocumentIntervals intervals = evaluation.Intervals(method, other);
  return {{"value", Share(method.right - other.right, evaluation.rows)},
          {"low", intervals.gain.low},
          {"high", intervals.gain.high}};
}

const TokenMethodResult* MixtureAt(const TokenEvaluation& evaluation, double lambda) {
  for (const TokenMethodResult& method : evaluation.methods) {
    if (method.method == Method::kKnnLm && std::abs(double{method.lambda} - lambda) < 1e-6) {
      return &method;
    }
  }
  return nullptr;
}

const Json& MethodAt(const Json& evaluation, const std::string& name) {
  for (const Json& method : At(evaluation, "methods")) {
    if (TextAt(method, "method") == name) return method;
  }
  return At(evaluation, "methods/none");
}

std::vector<NamedParameters> ParametersOf(const Json& tune) {
  std::vector<NamedParameters> named = {{"paper", kPaperParameters}};
  const Parameters tuned = ParametersAt(tune, "parameters");
  if (tuned.k > 0) named.push_back({"tuned", tuned});
  return named;
}

Result<JudgedTokens> JudgeTokens(const Workspace& workspace, const ResidualMemory& memory,
                                 const TokenRows& rows,
                                 const std::vector<NamedParameters>& parameters) {
  const Predictor predictor(memory);
  std::vector<TokenJudge> judges;
  int64_t largest_k = 0;
  for (const NamedParameters& named : parameters) {
    TokenJudgeOptions options;
    options.lambdas.assign(std::begin(kLambdas), std::end(kLambdas));
    options.threads = workspace.threads();
    RESMEM_ASSIGN_OR_RETURN(TokenJudge judge,
                            TokenJudge::Make(predictor, named.parameters, options));
    judges.push_back(std::move(judge));
    largest_k = std::max(largest_k, named.parameters.k);
  }
  Console& console = workspace.console();
  JudgedTokens judged;
  const double begin = console.SecondsSinceStart();
  Neighbors neighbors;
  const Status read = rows.Source().Read([&](int64_t first, const Rows& block) -> Status {
    RESMEM_RETURN_IF_ERROR(CheckInterrupt());
    console.progress()->Report("judging", first, rows.rows());
    const double found = console.SecondsSinceStart();
    RESMEM_RETURN_IF_ERROR(predictor.FindNeighbors(block.keys, largest_k, {}, workspace.threads(),
                                                   nullptr, &neighbors));
    const double judging = console.SecondsSinceStart();
    judged.search_seconds += judging - found;
    for (TokenJudge& judge : judges) RESMEM_RETURN_IF_ERROR(judge.Add(block, neighbors));
    judged.score_seconds += console.SecondsSinceStart() - judging;
    return {};
  });
  RESMEM_RETURN_IF_ERROR(read);
  judged.seconds = console.SecondsSinceStart() - begin;
  for (const TokenJudge& judge : judges) judged.evaluations.push_back(judge.Finish());
  return judged;
}

Json CostJson(const JudgedTokens& judged) {
  const auto rows = static_cast<double>(judged.evaluations.front().rows);
  return {{"seconds", judged.seconds},
          {"model_seconds", judged.seconds - judged.search_seconds - judged.score_seconds},
          {"search_seconds", judged.search_seconds},
          {"score_seconds", judged.score_seconds},
          {"tokens_per_second", rows / std::max(judged.seconds, 1e-9)}};
}

Result<Json> TuneMemory(const Context& context) {
  const Workspace& workspace = context.workspace;
  RESMEM_ASSIGN_OR_RETURN(const std::unique_ptr<ModelRows> rows,
                          ModelRows::Open(workspace, "valid", workspace.options().tune_tokens));
  RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory, workspace.OpenMemory());
  TuneOptions options;
  options.method = Method::kResMem;  // the paper's
  options.folds = 0;
  options.threads = workspace.threads();
  options.progress = workspace.console().progress();
  RESMEM_ASSIGN_OR_RETURN(const Tuning tuning,
                          Tune(Predictor(memory), rows->rows().Source(), options));
  RESMEM_RETURN_IF_ERROR(
      UpdateDescription(workspace.memory(), ApplyTuning(memory.description(), tuning)));
  Json result = {{"rows", tuning.rows},
                 {"documents", rows->rows().documents()},
                 {"points", std::ssize(tuning.points)},
                 {"parameters", reproduce::ToJson(tuning.chosen)},
                 {"gain", reproduce::ToJson(tuning.chosen_gain)},
                 {"calibrator", tuning.calibrator},
                 {"calibrator_temperature", Decimal(tuning.calibrator_temperature)},
                 {"warnings", tuning.warnings},
                 {"search_seconds", tuning.search_seconds},
                 {"grid_seconds", tuning.grid_seconds}};
  // With the calibrator that was chosen.
  RESMEM_ASSIGN_OR_RETURN(const ResidualMemory tuned, workspace.OpenMemory());
  RESMEM_ASSIGN_OR_RETURN(const JudgedTokens judged,
                          JudgeTokens(workspace, tuned, rows->rows(), ParametersOf(result)));
  for (const TokenEvaluation& evaluation : judged.evaluations) {
    const TokenMethodResult *right = nullptr, *likely = nullptr;
    for (const TokenMethodResult& method : evaluation.methods) {
      if (method.method != Method::kKnnLm) continue;
      if (right == nullptr || method.right > right->right) right = &method;
      if (likely == nullptr || method.nll < likely->nll) likely = &method;
    }
    const std::string name = &evaluation == &judged.evaluations.front() ? "paper" : "tuned";
    result["at"][name] = ToJson(evaluation);
    result["at"][name]["lambda"] = Decimal(right->lambda);
    result["at"][name]["lambda_by_perplexity"] = Decimal(likely->lambda);
  }
  return result;
}

Result<Json> JudgeText(const Context& context, const std::string& set) {
  const Workspace& workspace = context.workspace;
  RESMEM_ASSIGN_OR_RETURN(const std::unique_ptr<ModelRows> rows,
                          ModelRows::Open(workspace, set, workspace.options().eval_tokens));
  RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory, workspace.OpenMemory());
  const Json& tune = context.ResultOf("tune");
  const std::vector<NamedParameters> parameters = ParametersOf(tune);
  RESMEM_ASSIGN_OR_RETURN(const JudgedTokens judged,
                          JudgeTokens(workspace, memory, rows->rows(), parameters));
  Json result = {{"set", set},
                 {"title", workspace.set(set).title},
                 {"in_domain", workspace.set(set).in_domain},
                 {"of_documents", rows->set().documents()},
                 {"memory_rows", memory.rows()},
                 {"cost", CostJson(judged)}};
  for (size_t i = 0; i < parameters.size(); ++i) {
    const TokenEvaluation& evaluation = judged.evaluations[i];
    Json& at = result["at"][parameters[i].name];
    at = ToJson(evaluation);
    const double lambda = NumberAt(tune, "at/" + parameters[i].name + "/lambda");
    const TokenMethodResult* mixture = MixtureAt(evaluation, lambda);
    if (mixture == nullptr) continue;
    at["lambda"] = lambda;
    at["against_knn_lm"] = DifferenceJson(evaluation, evaluation.resmem(), *mixture);
  }
  return result;
}

}  // namespace resmem::cli::reproduce::lm
