// What of a stored row can be got back by asking.
#ifndef RESMEM_EVAL_PRIVACY_EXTRACTION_H_
#define RESMEM_EVAL_PRIVACY_EXTRACTION_H_

#include <span>
#include <vector>

#include "eval/privacy/asked_rows.h"

namespace resmem {

// Asks with members' keys moved by so many distances to their nearest other row, each in a
// direction of its own, and their logits.
Result<std::vector<NearQuery>> AskNearMembers(const Predictor& predictor,
                                              const PredictOptions& answer,
                                              std::span<const int64_t> members,
                                              const PrivacyOptions& options);

// From queries of somebody who has no row of the memory, such as held-out keys, and the distances
// of the k rows that are shown for each.
Result<KeyRecovery> RecoverKeys(const Predictor& predictor, MatrixView queries, int64_t k,
                                const PrivacyOptions& options);

}  // namespace resmem

#endif  // RESMEM_EVAL_PRIVACY_EXTRACTION_H_
