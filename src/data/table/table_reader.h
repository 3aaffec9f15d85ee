// The rows of a table as arrays.
#ifndef RESMEM_DATA_TABLE_TABLE_READER_H_
#define RESMEM_DATA_TABLE_TABLE_READER_H_

#include "data/dataset_sources.h"
#include "resmem/data/table.h"

namespace resmem {

struct OpenedTable {
  DatasetArrays arrays;  // labels as they stand in the table: numbers or text
  TableReading reading;
};

// Reads all of it into memory.  `skip_bad`: a key, logit or target without a value or that is no
// number becomes NaN, and a missing label text of no characters, instead of an error.
// Errors: those of CSV, kInvalidArgument (roles), kBadData with line and column.
Result<OpenedTable> OpenTable(const TableSource& source, Task task, bool skip_bad);

}  // namespace resmem

#endif  // RESMEM_DATA_TABLE_TABLE_READER_H_
