// CSV with a header line.  Each column is a member: of int64 if all its fields are whole
// numbers, float64 if all are numbers, otherwise text.  Without a member the file is one matrix
// of numbers, or its only column.  Values are parsed into memory when an array is opened.
#ifndef RESMEM_DATA_FORMATS_CSV_H_
#define RESMEM_DATA_FORMATS_CSV_H_

#include <string>

#include "data/array_storage.h"

namespace resmem {

Result<FileContent> ReadCsv(const std::string& name, const SharedBytes& bytes);

}  // namespace resmem

#endif  // RESMEM_DATA_FORMATS_CSV_H_
