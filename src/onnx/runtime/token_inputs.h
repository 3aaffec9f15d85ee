// What a causal language model takes besides token ids, told from the names that exporters give.
#ifndef RESMEM_ONNX_RUNTIME_TOKEN_INPUTS_H_
#define RESMEM_ONNX_RUNTIME_TOKEN_INPUTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "onnx/graph/graph_index.h"

namespace resmem {

enum class TokenRole {
  kIds,
  kMask,       // attention_mask: 1 for every token, past ones too
  kPositions,  // position_ids, cache_position: counted from the front of the text
  kSegments,   // token_type_ids: 0
  kSwitch,     // use_cache_branch: whether there is a past
  kKept,       // num_logits_to_keep: 0, which is all
  kPast,       // past_key_values.0.key
};

struct NamedTokenInput {
  std::string name;
  TokenRole role = TokenRole::kIds;
  int type = 0;  // of the runtime
  // kPast: its sides, -1 for that of the tokens; others: how many sides it has.
  std::vector<int64_t> sides;
  std::string present;  // kPast: the output that holds what follows from it; empty: none
};

struct TokenInputs {
  std::vector<NamedTokenInput> inputs;  // as the graph has them
  // Each past has its present.
  bool keeps_past() const;
  const std::string& ids() const;
};

// Whether the graph reads token ids, and not images or tables.
bool TakesTokenIds(const GraphIndex& index);
// kUnsupported for an input that is none of these, by its name.
Result<TokenInputs> FindTokenInputs(const GraphIndex& index);

}  // namespace resmem

#endif  // RESMEM_ONNX_RUNTIME_TOKEN_INPUTS_H_
