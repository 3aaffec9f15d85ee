// CSV with a header line.  Each column is a member: of int64 if all its fields are whole
// numbers, float64 if all are numbers, otherwise text.  Without a member the file is one matrix
// of numbers, or its only column.  Values are parsed into memory when an array is opened.
#ifndef RESMEM_DATA_FORMATS_CSV_H_
#define RESMEM_DATA_FORMATS_CSV_H_

#include <string>
#include <string_view>
#include <vector>

#include "data/array_storage.h"

namespace resmem {

Result<FileContent> ReadCsv(const std::string& name, const SharedBytes& bytes);

// Of a file's first line: names, and no name twice.
Status CheckCsvHeader(const std::string& name, const std::vector<std::string>& header);
// Blanks around it and a plus sign are allowed.  False where the field is no number of that type.
bool ParseCsvNumber(std::string_view field, int64_t* value);
bool ParseCsvNumber(std::string_view field, double* value);
std::string_view CsvText(const FileBytes& bytes);

}  // namespace resmem

#endif  // RESMEM_DATA_FORMATS_CSV_H_
