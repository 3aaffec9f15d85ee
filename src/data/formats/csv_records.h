// The records of a CSV text: fields between commas (where the first line has none, semicolons, or
// else tabs), quoted where they hold those, quotes (doubled) or line ends; lines end in LF or CRLF.
#ifndef RESMEM_DATA_FORMATS_CSV_RECORDS_H_
#define RESMEM_DATA_FORMATS_CSV_RECORDS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "resmem/status.h"

namespace resmem {

class CsvRecords {
 public:
  // `name` is for messages.  Both must outlive the object.
  CsvRecords(const std::string& name, std::string_view text);

  // The next record, false at the end.  Empty lines at the end of the text are no records.
  Result<bool> Next(std::vector<std::string>* fields);
  int64_t line() const { return record_line_; }  // where the record began, from 1

 private:
  static char SeparatorOf(std::string_view text);
  Status TakeField(std::string* field);

  const std::string& name_;
  std::string_view rest_;
  int64_t next_line_ = 1;
  int64_t record_line_ = 0;
  char separator_ = ',';
};

}  // namespace resmem

#endif  // RESMEM_DATA_FORMATS_CSV_RECORDS_H_
