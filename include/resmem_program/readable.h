// Numbers and tables as people read them.  There is one form for each kind of number: a p-value, a
// count or a duration reads the same in messages, in tables and on pages.
//
// All functions are free of shared state and may be called from any thread.
#ifndef RESMEM_PROGRAM_READABLE_H_
#define RESMEM_PROGRAM_READABLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace resmem::readable {

// What rounds to zero is never written with a minus sign.
std::string Count(int64_t value);                       // "50,000"
std::string Counted(int64_t value, const char* noun);   // "1 row", "50,000 rows"
std::string Fixed(double value, int decimals);          // "0.700"
std::string Signed(double value, int decimals);         // "+0.700", "+0.000"
std::string ShortNumber(double value, int digits = 6);  // "0.7": no more digits than needed
std::string Scientific(double value);                   // "-1.2e-08"
std::string Percent(double share, int decimals = 2);    // "59.66 %"
std::string Points(double share);                       // "3.20": percentage points
std::string SignedPoints(double share);                 // "+3.20"
std::string PValue(double p);                           // "0.031", "< 1e-6"
std::string Bytes(int64_t value);                       // "12.8 MB"
std::string Duration(double seconds);                   // "850 ms", "12 s", "3 min 20 s"

// Columns of text.  As plain text they are aligned, with two blanks between them, and have no line
// of titles if no column has one.
class Table {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string title;
    Align align = Align::kRight;
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  // A name in the first column, numbers in the others but for the last `words`, which hold text.
  static Table OfNumbers(const std::vector<std::string>& titles, size_t words = 0);
  // Two columns without titles: what it is, and its value.
  static Table Facts() { return Table({{"", Align::kLeft}, {"", Align::kLeft}}); }

  // One cell a column; missing ones are empty.
  void AddRow(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  // Both end with a line break.
  std::string Text() const;
  // Columns of cells no longer than a screen can show are aligned in the source too.
  std::string Markdown() const;

 private:
  const std::string& Cell(size_t row, size_t column) const;
  std::vector<size_t> Widths() const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace resmem::readable

#endif  // RESMEM_PROGRAM_READABLE_H_
