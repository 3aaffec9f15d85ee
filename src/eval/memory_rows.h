// Some of a memory's own rows.
#ifndef RESMEM_EVAL_MEMORY_ROWS_H_
#define RESMEM_EVAL_MEMORY_ROWS_H_

#include <cstdint>
#include <vector>

#include "resmem/evaluation.h"

namespace resmem {

// `wanted` living rows, ascending, each as likely as the others; all where there are no more.
std::vector<int64_t> SampleRows(const ResidualMemory& memory, int64_t wanted);

// As ReadMemory(), of these living rows.
RowSource ReadMemoryRows(const ResidualMemory& memory, std::vector<int64_t> rows);

}  // namespace resmem

#endif  // RESMEM_EVAL_MEMORY_ROWS_H_
