#include "console/table.h"

#include <algorithm>

namespace resmem::cli {
namespace {

// Characters of UTF-8 text: class names and sources may hold any.
size_t Width(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

}  // namespace

std::string Table::Text() const {
  std::vector<size_t> widths;
  for (size_t c = 0; c < columns_.size(); ++c) {
    size_t width = Width(columns_[c].title);
    for (const auto& row : rows_) {
      if (c < row.size()) width = std::max(width, Width(row[c]));
    }
    widths.push_back(width);
  }
  std::string text;
  const auto add_line = [&](const auto& cell_of) {
    std::string line;
    for (size_t c = 0; c < columns_.size(); ++c) {
      const std::string cell = cell_of(c);
      const std::string blanks(widths[c] - Width(cell), ' ');
      if (c > 0) line += "  ";
      line += columns_[c].align == Align::kLeft ? cell + blanks : blanks + cell;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  const bool titled = std::any_of(columns_.begin(), columns_.end(),
                                  [](const Column& column) { return !column.title.empty(); });
  if (titled) add_line([&](size_t c) { return columns_[c].title; });
  for (const auto& row : rows_) {
    add_line([&](size_t c) { return c < row.size() ? row[c] : std::string(); });
  }
  return text;
}

}  // namespace resmem::cli
