// Which column of a table has which role.
#ifndef RESMEM_DATA_TABLE_TABLE_COLUMNS_H_
#define RESMEM_DATA_TABLE_TABLE_COLUMNS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "resmem/data/table.h"
#include "resmem/rows.h"

namespace resmem {

struct TableColumns {
  std::vector<size_t> keys, logits, targets, tags;
  std::optional<size_t> label, id, source, split, slice;
};

// `header`: the names, of which none comes twice.  No column has two roles: a label among the keys
// is refused.  kInvalidArgument, kBadData (a column that is not there).
Result<TableColumns> FindTableColumns(const TableSource& source,
                                      const std::vector<std::string>& header, Task task);

}  // namespace resmem

#endif  // RESMEM_DATA_TABLE_TABLE_COLUMNS_H_
