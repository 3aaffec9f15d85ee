// A table for people: columns aligned, two blanks between them; no line of titles where none of
// the columns has one.
#ifndef RESMEM_CLI_CONSOLE_TABLE_H_
#define RESMEM_CLI_CONSOLE_TABLE_H_

#include <string>
#include <vector>

namespace resmem::cli {

class Table {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string title;
    Align align = Align::kRight;
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  // Two columns without titles: what it is, and its value.
  static Table Facts() { return Table({{"", Align::kLeft}, {"", Align::kLeft}}); }

  // One cell a column; missing ones are empty.
  void AddRow(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  std::string Text() const;  // ends with a line break

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace resmem::cli

#endif  // RESMEM_CLI_CONSOLE_TABLE_H_
