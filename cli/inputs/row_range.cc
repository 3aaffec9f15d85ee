#include "inputs/row_range.h"

#include "console/values.h"

namespace resmem::cli {

Option& DeclareRowRange(CommandLine& line, std::string* text) {
  return line
      .Value("--rows", text, "BEGIN:END", "only these rows, counted from 0, END not included")
      .Default("all");
}

Result<std::pair<int64_t, int64_t>> ParseRowRange(const std::string& text, int64_t rows,
                                                  const std::string& name) {
  int64_t begin = 0, end = rows;
  if (text.empty()) return std::pair(begin, end);
  const size_t colon = text.find(':');
  const std::string first = text.substr(0, colon);
  const std::string last = colon == std::string::npos ? "?" : text.substr(colon + 1);
  const bool sound = (first.empty() || ParseValue(first, &begin).ok()) &&
                     (last.empty() || ParseValue(last, &end).ok());
  if (!sound || begin < 0 || begin >= end || end > rows) {
    return Status(ErrorCode::kInvalidArgument, "--rows " + text +
                                                   ": give BEGIN:END with 0 <= BEGIN < END <= " +
                                                   std::to_string(rows) + ", the rows of " + name);
  }
  return std::pair(begin, end);
}

}  // namespace resmem::cli
