// A table whose Markdown source is aligned, so that it reads well in a terminal too.
#ifndef RESMEM_LAB_THEORY_TEXT_TABLE_H_
#define RESMEM_LAB_THEORY_TEXT_TABLE_H_

#include <string>
#include <vector>

namespace resmem {

class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header) { rows_.push_back(std::move(header)); }
  // Requires as many cells as the header has.
  void Add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  std::string Format() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace resmem

#endif  // RESMEM_LAB_THEORY_TEXT_TABLE_H_
