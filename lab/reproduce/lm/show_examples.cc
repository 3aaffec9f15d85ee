#include "outputs/tokens/token_examples.h"
#include "reproduce/lm/experiments.h"
#include "reproduce/lm/judge.h"

namespace resmem::cli::reproduce::lm {

Result<Json> ShowExamples(const Context& context) {
  const Workspace& workspace = context.workspace;
  RESMEM_ASSIGN_OR_RETURN(const std::unique_ptr<ModelRows> rows,
                          ModelRows::Open(workspace, "test", workspace.options().exact_tokens));
  RESMEM_ASSIGN_OR_RETURN(const ResidualMemory memory, workspace.OpenMemory());
  RESMEM_ASSIGN_OR_RETURN(const Tokenizer tokenizer, Tokenizer::Open(workspace.tokenizer()));
  RESMEM_ASSIGN_OR_RETURN(const MemorizedText memorized,
                          MemorizedText::Open(workspace.tokens("train"), "--work", memory));
  TokenExampleOptions options;
  options.answer.parameters = ParametersOf(context.ResultOf("tune")).back().parameters;
  options.answer.threads = workspace.threads();
  RESMEM_ASSIGN_OR_RETURN(const std::vector<TokenExample> examples,
                          ChooseTokenExamples(Predictor(memory), rows->rows(), tokenizer, memorized,
                                              options, workspace.console()));
  Json list = Json::array();
  for (const TokenExample& example : examples) {
    Json neighbors = Json::array();
    for (const TokenNeighbor& neighbor : example.neighbors) {
      neighbors.push_back({{"distance", neighbor.distance},
                           {"weight", neighbor.weight},
                           {"context", neighbor.context},
                           {"next", neighbor.next},
                           {"title", neighbor.title}});
    }
    list.push_back({{"fixed", example.fixed},
                    {"title", example.title},
                    {"context", example.context},
                    {"truth", example.truth},
                    {"base", example.base},
                    {"resmem", example.resmem},
                    {"base_score", example.base_score},
                    {"resmem_score", example.resmem_score},
                    {"neighbors", std::move(neighbors)}});
  }
  return Json{{"set", "test"},
              {"rows", rows->rows().rows()},
              {"documents", rows->rows().documents()},
              {"parameters", reproduce::ToJson(options.answer.parameters)},
              {"rule", TokenExampleRule(options)},
              {"examples", std::move(list)}};
}

}  // namespace resmem::cli::reproduce::lm
