#include "outputs/tokens/token_evaluation_text.h"

#include <cmath>

#include "inputs/answer_options.h"
#include "outputs/evaluation_text.h"

namespace resmem::cli {
namespace {

// A bootstrap over fewer than this gives intervals that cover much less than they claim.
constexpr int64_t kDocumentsForIntervals = 10;

std::string MethodWords(const MethodResult& result) {
  switch (result.method) {
    case Method::kKnn:
      return result.own ? "k-NN, its own k and sigma" : "k-NN";
    case Method::kKnnLm:
      return (result.own ? "kNN-LM, its own k and sigma, lambda " : "kNN-LM, lambda ") +
             ShortNumber(result.lambda);
    case Method::kResMem:
      return "ResMem";
    default:
      return ResultName(result.method, result.refit);
  }
}

}  // namespace

std::string TokenEvaluationText(const Evaluation& evaluation) {
  Table table = MethodsTable({"perplexity"});
  for (const MethodResult& result : evaluation.methods) {
    const bool is_base = &result == &evaluation.methods.front();
    std::vector<std::string> cells = MethodCells(MethodWords(result), result, is_base);
    cells.push_back(result.nll.has_value() ? Fixed(std::exp(*result.nll), 2) : "");
    table.AddRow(std::move(cells));
  }
  return Counted(evaluation.rows, "token") + " of " +
         Counted(std::ssize(evaluation.slices), "document") + "; " +
         AnswerText(evaluation.method, evaluation.parameters, evaluation.task) + "\n\n" +
         BetterText(evaluation) + table.Text() + "\n" + PairsText(evaluation) +
         "\nIntervals draw whole documents. ResMem's perplexity is by the calibrator " +
         evaluation.calibrator + ".\n";
}

void WarnOfFewDocuments(Evaluation* evaluation) {
  if (std::ssize(evaluation->slices) >= kDocumentsForIntervals) return;
  evaluation->warnings.push_back("The intervals draw whole documents, and there are only " +
                                 std::to_string(evaluation->slices.size()) + ": with fewer than " +
                                 std::to_string(kDocumentsForIntervals) +
                                 " they are too narrow and say little; judge by more documents.");
}

}  // namespace resmem::cli
