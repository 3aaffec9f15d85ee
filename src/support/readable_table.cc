#include <algorithm>

#include "resmem_program/readable.h"

namespace resmem::readable {
namespace {

// A cell beyond this runs over its column in the source of Markdown, instead of widening all.
constexpr size_t kWidestInMarkdown = 40;

// Characters of UTF-8 text: class names and sources may hold any.
size_t Width(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

std::string Padded(const std::string& cell, size_t width, Table::Align align) {
  const std::string blanks(width - std::min(width, Width(cell)), ' ');
  return align == Table::Align::kLeft ? cell + blanks : blanks + cell;
}

}  // namespace

Table Table::OfNumbers(const std::vector<std::string>& titles, size_t words) {
  std::vector<Column> columns;
  for (size_t i = 0; i < titles.size(); ++i) {
    const bool text = i == 0 || i + words >= titles.size();
    columns.push_back({titles[i], text ? Align::kLeft : Align::kRight});
  }
  return Table(std::move(columns));
}

const std::string& Table::Cell(size_t row, size_t column) const {
  static const std::string kEmpty;
  return column < rows_[row].size() ? rows_[row][column] : kEmpty;
}

std::vector<size_t> Table::Widths() const {
  std::vector<size_t> widths;
  for (size_t c = 0; c < columns_.size(); ++c) {
    size_t width = Width(columns_[c].title);
    for (size_t r = 0; r < rows_.size(); ++r) width = std::max(width, Width(Cell(r, c)));
    widths.push_back(width);
  }
  return widths;
}

std::string Table::Text() const {
  const std::vector<size_t> widths = Widths();
  std::string text;
  const auto add_line = [&](const auto& cell_of) {
    std::string line;
    for (size_t c = 0; c < columns_.size(); ++c) {
      line += (c > 0 ? "  " : "") + Padded(cell_of(c), widths[c], columns_[c].align);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  const bool titled = std::any_of(columns_.begin(), columns_.end(),
                                  [](const Column& column) { return !column.title.empty(); });
  if (titled) add_line([&](size_t c) -> const std::string& { return columns_[c].title; });
  for (size_t r = 0; r < rows_.size(); ++r) {
    add_line([&](size_t c) -> const std::string& { return Cell(r, c); });
  }
  return text;
}

std::string Table::Markdown() const {
  std::vector<size_t> widths = Widths();
  for (size_t& width : widths) width = width > kWidestInMarkdown ? 0 : width;
  std::string text;
  const auto add_line = [&](const auto& cell_of) {
    text += "|";
    for (size_t c = 0; c < columns_.size(); ++c) {
      text += " " + Padded(cell_of(c), widths[c], columns_[c].align) + " |";
    }
    text += "\n";
  };
  add_line([&](size_t c) -> const std::string& { return columns_[c].title; });
  text += "|";
  for (size_t c = 0; c < columns_.size(); ++c) {
    const std::string dashes(std::max<size_t>(widths[c], 1), '-');
    text += columns_[c].align == Align::kLeft ? dashes + "--|" : dashes + "-:|";
  }
  text += "\n";
  for (size_t r = 0; r < rows_.size(); ++r) {
    add_line([&](size_t c) -> const std::string& { return Cell(r, c); });
  }
  return text;
}

}  // namespace resmem::readable
