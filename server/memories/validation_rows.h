// Labeled rows that the operator gave for a memory: a preview tells what an edit would do to them.
#ifndef RESMEM_SERVER_MEMORIES_VALIDATION_ROWS_H_
#define RESMEM_SERVER_MEMORIES_VALIDATION_ROWS_H_

#include <cstdint>
#include <string>

#include "memories/row_set.h"

namespace resmem::serve {

// What a preview may cost: so many of them are read, from the first on.
inline constexpr int64_t kMostValidationRows = 10'000;
inline constexpr int64_t kMostValidationBytes = int64_t{64} << 20;

// `path`: arrays by their usual names, as `resmem tune --data` reads them.  Where some rows are
// marked as validation rows, the others are left out.  Errors: those of reading; kMismatch where
// the rows are not the memory's; kBadData without labels.
Result<RowSet> ReadValidationRows(const std::string& path, const ResidualMemory& memory);

}  // namespace resmem::serve

#endif  // RESMEM_SERVER_MEMORIES_VALIDATION_ROWS_H_
