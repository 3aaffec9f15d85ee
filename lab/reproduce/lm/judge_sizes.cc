#include <algorithm>

#include "console/interrupt.h"
#include "reproduce/lm/experiments.h"
#include "reproduce/lm/judge.h"
#include "reproduce/lm/prefix_search.h"
#include "resmem/diagnosis.h"

namespace resmem::cli::reproduce::lm {
namespace {

// Every key of the rows; their logits are too many to be kept.
Result<std::vector<float>> CollectKeys(const TokenRows& rows, Console& console) {
  std::vector<float> keys;
  const Status read = rows.Source().Read([&](int64_t first, const Rows& block) -> Status {
    RESMEM_RETURN_IF_ERROR(CheckInterrupt());
    console.progress()->Report("embedding", first, rows.rows());
    for (int64_t row = 0; row < block.count(); ++row) {
      const std::span<const float> key = block.keys.row_span(row);
      keys.insert(keys.end(), key.begin(), key.end());
    }
    return {};
  });
  RESMEM_RETURN_IF_ERROR(read);
  return keys;
}

Neighbors Lines(const Neighbors& all, int64_t begin, int64_t count) {
  Neighbors lines;
  lines.queries = count;
  lines.k = all.k;
  const auto first = begin * all.k, last = (begin + count) * all.k;
  lines.rows.assign(all.rows.begin() + first, all.rows.begin() + last);
  lines.distances.assign(all.distances.begin() + first, all.distances.begin() + last);
  return lines;
}

// Whole documents of the memorized text that hold `share` per cent of the memory's rows, or more.
int64_t RowsOfShare(const TokenSet& memorized, int64_t rows, int64_t share) {
  if (share == 100) return rows;
  return RowsOfDocuments(memorized,
                         DocumentsHolding(memorized, std::max<int64_t>(rows * share / 100, 1)));
}

// The difference of two lists by_document: tokens, right by the base, right by ResMem.
Json DifferenceByDocument(const Json& exact, const Json& approximate) {
  std::vector<GroupResult> documents;
  int64_t rows = 0, difference = 0;
  for (size_t i = 0; i < std::min(exact.size(), approximate.size()); ++i) {
    GroupResult document;
    document.total = CountAt(exact[i], "0");
    document.base_correct = CountAt(exact[i], "2");
    document.resmem_correct = CountAt(approximate[i], "2");
    rows += document.total;
    difference += document.resmem_correct - document.base_correct;
    documents.push_back(document);
  }
  const DocumentIntervals intervals = BootstrapDocuments(documents);
  return {
      {"value", static_cast<double>(difference) / static_cast<double>(std::max<int64_t>(rows, 1))},
      {"low", intervals.gain.low},
      {"high", intervals.gain.high}};
}

}  // namespace

Result<Json> JudgeSizes(const Context& context) {
  const Workspace& workspace = context.workspace;
  Console& console = workspace.console();
  RESMEM_ASSIGN_OR_RETURN(const std::unique_ptr<ModelRows> rows,
                          ModelRows::Open(workspace, "test", workspace.options().exact_tokens));
  RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory, workspace.OpenMemory(/*exact=*/true));
  RESMEM_ASSIGN_OR_RETURN(const TokenSet memorized, TokenSet::Open(workspace.tokens("train")));
  const std::vector<NamedParameters> parameters = ParametersOf(context.ResultOf("tune"));
  PrefixSearchOptions search;
  search.threads = workspace.threads();
  for (const NamedParameters& named : parameters) {
    search.k = std::max(search.k, std::min(named.parameters.k, memory.rows()));
  }
  std::vector<int64_t> ends;
  for (const int64_t share : kShares) {
    ends.push_back(RowsOfShare(memorized, memory.rows(), share));
  }
  RESMEM_ASSIGN_OR_RETURN(const std::vector<float> keys, CollectKeys(rows->rows(), console));
  const double begin = console.SecondsSinceStart();
  std::vector<Neighbors> found(ends.size());
  RESMEM_RETURN_IF_ERROR(SearchPrefixes(
      memory, MatrixView(keys.data(), rows->rows().rows(), memory.description().dim), ends, search,
      console, [&](size_t end, const Neighbors& neighbors) { found[end] = neighbors; }));
  const double search_seconds = console.SecondsSinceStart() - begin;

  const Predictor predictor(memory);
  TokenJudgeOptions options;
  options.baselines = options.probabilities = false;
  options.threads = workspace.threads();
  std::vector<TokenJudge> judges;  // size by size, each at all parameters
  for (size_t i = 0; i < ends.size() * parameters.size(); ++i) {
    RESMEM_ASSIGN_OR_RETURN(
        TokenJudge judge,
        TokenJudge::Make(predictor, parameters[i % parameters.size()].parameters, options));
    judges.push_back(std::move(judge));
  }
  const Status read = rows->rows().Source().Read([&](int64_t first, const Rows& block) -> Status {
    RESMEM_RETURN_IF_ERROR(CheckInterrupt());
    console.progress()->Report("judging", first, rows->rows().rows());
    for (size_t end = 0; end < ends.size(); ++end) {
      const Neighbors neighbors = Lines(found[end], first, block.count());
      for (size_t i = 0; i < parameters.size(); ++i) {
        RESMEM_RETURN_IF_ERROR(judges[end * parameters.size() + i].Add(block, neighbors));
      }
    }
    return {};
  });
  RESMEM_RETURN_IF_ERROR(read);
  Json sizes = Json::array();
  for (size_t end = 0; end < ends.size(); ++end) {
    Json size = {{"share", kShares[end]}, {"rows", ends[end]}};
    for (size_t i = 0; i < parameters.size(); ++i) {
      size["at"][parameters[i].name] = ToJson(judges[end * parameters.size() + i].Finish());
    }
    sizes.push_back(std::move(size));
  }
  return Json{{"set", "test"},
              {"documents", rows->rows().documents()},
              {"rows", rows->rows().rows()},
              {"exact_search_seconds", search_seconds},
              {"sizes", std::move(sizes)}};
}

Result<Json> JudgeIndex(const Context& context) {
  const Workspace& workspace = context.workspace;
  RESMEM_ASSIGN_OR_RETURN(const std::unique_ptr<ModelRows> rows,
                          ModelRows::Open(workspace, "test", workspace.options().exact_tokens));
  RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory, workspace.OpenMemory());
  RESMEM_ASSIGN_OR_RETURN(const ResidualMemory exact, workspace.OpenMemory(/*exact=*/true));
  DiagnosisOptions diagnosis;
  diagnosis.threads = workspace.threads();
  RESMEM_ASSIGN_OR_RETURN(const Diagnosis found,
                          Diagnose(memory, exact, /*rows=*/nullptr, diagnosis));
  const std::vector<NamedParameters> parameters = ParametersOf(context.ResultOf("tune"));
  RESMEM_ASSIGN_OR_RETURN(const JudgedTokens judged,
                          JudgeTokens(workspace, memory, rows->rows(), parameters));
  const Json& sizes = At(context.ResultOf("sizes"), "sizes");
  Json result = {
      {"set", "test"},
      {"rows", rows->rows().rows()},
      {"documents", rows->rows().documents()},
      {"search_seconds", judged.search_seconds},
      {"exact_search_seconds", NumberAt(context.ResultOf("sizes"), "exact_search_seconds")}};
  if (found.index.has_value()) {
    result["recall"] = {{"asked", found.index->asked},
                        {"found", found.index->recall},
                        {"k", found.index->k},
                        {"queries", found.index->queries}};
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Json approximate = ToJson(judged.evaluations[i]);
    const Json& whole = At(sizes.back(), "at/" + parameters[i].name);
    result["at"][parameters[i].name] = {
        {"parameters", At(approximate, "parameters")},
        {"exact", At(MethodAt(whole, "resmem"), "accuracy")},
        {"approximate", At(MethodAt(approximate, "resmem"), "accuracy")},
        {"difference",
         DifferenceByDocument(At(whole, "by_document"), At(approximate, "by_document"))}};
  }
  return result;
}

}  // namespace resmem::cli::reproduce::lm
