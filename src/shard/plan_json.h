// A shard plan as JSON: docs/shards.md.
#ifndef RESMEM_SHARD_PLAN_JSON_H_
#define RESMEM_SHARD_PLAN_JSON_H_

#include <string>
#include <string_view>

#include "resmem/shard/shard_plan.h"

namespace resmem {

// The same plan gives the same bytes.
std::string PlanText(const ShardPlan& plan);

// Errors: kCorrupt (no JSON, a missing or wrong field, shards that do not follow each other),
// kTooNew.
Result<ShardPlan> ParsePlan(std::string_view text);

}  // namespace resmem

#endif  // RESMEM_SHARD_PLAN_JSON_H_
