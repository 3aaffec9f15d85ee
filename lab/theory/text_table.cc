#include "theory/text_table.h"

#include <algorithm>

#include "support/check.h"

namespace resmem {
namespace {

// Characters, not bytes: "±" is two bytes of UTF-8.
size_t Width(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace

std::string TextTable::Format() const {
  std::vector<size_t> widths(rows_.front().size(), 2);
  for (const std::vector<std::string>& row : rows_) {
    RESMEM_DCHECK(row.size() == widths.size());
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], Width(row[i]));
  }
  std::string text;
  for (size_t r = 0; r < rows_.size(); ++r) {
    for (size_t i = 0; i < widths.size(); ++i) {
      const std::string& cell = rows_[r][i];
      text += "| " + std::string(widths[i] - Width(cell), ' ') + cell + " ";
    }
    text += "|\n";
    if (r > 0) continue;
    for (size_t width : widths) text += "| " + std::string(width - 1, '-') + ": ";
    text += "|\n";
  }
  return text;
}

}  // namespace resmem
