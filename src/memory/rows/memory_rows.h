// Some of a memory's own rows.
#ifndef RESMEM_MEMORY_ROWS_MEMORY_ROWS_H_
#define RESMEM_MEMORY_ROWS_MEMORY_ROWS_H_

#include <cstdint>
#include <vector>

#include "resmem/residual_memory.h"

namespace resmem {

// `wanted` living rows, ascending, each as likely as the others; all where there are no more.
std::vector<int64_t> SampleRows(const ResidualMemory& memory, int64_t wanted);

// As ReadMemory(), of these living rows.
RowSource ReadMemoryRows(const ResidualMemory& memory, std::vector<int64_t> rows);

}  // namespace resmem

#endif  // RESMEM_MEMORY_ROWS_MEMORY_ROWS_H_
