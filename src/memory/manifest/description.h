// What a memory's description may say.
#ifndef RESMEM_MEMORY_MANIFEST_DESCRIPTION_H_
#define RESMEM_MEMORY_MANIFEST_DESCRIPTION_H_

#include "resmem/residual_memory.h"

namespace resmem {

const char* TaskName(Task task);  // "classification", "regression"

// kInvalidArgument with the field, the value found and what is allowed.
Status CheckDescription(const MemoryDescription& description);

// The description as a writer stores it: regression is always dense, `top` is at most `outputs`.
Result<MemoryDescription> NormalizeDescription(MemoryDescription description);

// The form that logits take when they are frozen: dense up to 1,024 outputs, sparse above.
ResidualForm FrozenForm(int64_t outputs);

}  // namespace resmem

#endif  // RESMEM_MEMORY_MANIFEST_DESCRIPTION_H_
