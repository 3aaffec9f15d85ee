// Which living row has an id.
#ifndef RESMEM_MEMORY_ROWS_ID_INDEX_H_
#define RESMEM_MEMORY_ROWS_ID_INDEX_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "memory/rows/stored_rows.h"

namespace resmem {

// Costs nothing to keep where ids ascend with the rows, as those that we number ourselves do;
// else 8 bytes a living row.  Refers to `rows`.
class IdIndex {
 public:
  explicit IdIndex(const StoredRows& rows);
  std::optional<int64_t> Find(uint64_t id) const;
  // An id that two living rows have: a sound memory has none.
  std::optional<uint64_t> repeated() const { return repeated_; }

 private:
  const StoredRows& rows_;
  bool ascending_ = true;       // over all rows, deleted ones too
  std::vector<int64_t> by_id_;  // living rows, unless ascending_
  std::optional<uint64_t> repeated_;
};

}  // namespace resmem

#endif  // RESMEM_MEMORY_ROWS_ID_INDEX_H_
