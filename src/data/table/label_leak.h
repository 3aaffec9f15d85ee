// Is the label among the keys?  A memory that finds it there answers well until it is asked about
// rows whose label nobody knows.
#ifndef RESMEM_DATA_TABLE_LABEL_LEAK_H_
#define RESMEM_DATA_TABLE_LABEL_LEAK_H_

#include <string>
#include <string_view>
#include <vector>

#include "resmem/data/array.h"
#include "resmem/data/dataset.h"

namespace resmem {

// label, labels, target, targets; for classification also class, classes; in any case of letters.
bool NamesALabel(std::string_view column, Task task);

// The names of a CSV file's columns, from its first line; none of a file of another kind.
Result<std::vector<std::string>> CsvColumns(const std::string& path);

// Columns of `keys`, which bear `names`, of which each value goes with one label only, while there
// are as many labels as values or more.  Empty where there are few rows.
Result<std::vector<std::string>> ColumnsThatTell(const Array& keys,
                                                 const std::vector<std::string>& names,
                                                 const Array& labels);

}  // namespace resmem

#endif  // RESMEM_DATA_TABLE_LABEL_LEAK_H_
