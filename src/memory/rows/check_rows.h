// Rows from a caller are wrong until checked.
#ifndef RESMEM_MEMORY_ROWS_CHECK_ROWS_H_
#define RESMEM_MEMORY_ROWS_CHECK_ROWS_H_

#include "resmem/residual_memory.h"
#include "resmem/rows.h"

namespace resmem {

// kBadData with array, row, column, the value found and what is allowed.  Rows are counted from
// `first_row` in messages.  Keys are as they are given.
Status CheckRows(const Rows& rows, const MemoryDescription& description, int64_t first_row);
// The same of keys as they will be stored.
Status CheckStoredKeys(MatrixView keys, const MemoryDescription& description, int64_t first_row);
// The same of their tags, which are an error where none were announced.
Status CheckRowTags(const Rows& rows, bool announced, int64_t first_row);

}  // namespace resmem

#endif  // RESMEM_MEMORY_ROWS_CHECK_ROWS_H_
