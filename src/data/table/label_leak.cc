#include "data/table/label_leak.h"

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>

#include "data/formats/csv.h"
#include "data/formats/csv_records.h"
#include "support/file_system.h"

namespace resmem {

bool NamesALabel(std::string_view column, Task task) {
  std::string name(column);
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  constexpr std::array<std::string_view, 4> kAlways = {"label", "labels", "target", "targets"};
  if (std::find(kAlways.begin(), kAlways.end(), name) != kAlways.end()) return true;
  return task == Task::kClassification && (name == "class" || name == "classes");
}

Result<std::vector<std::string>> CsvColumns(const std::string& path) {
  std::vector<std::string> header;
  if (!path.ends_with(".csv") && !path.ends_with(".tsv")) return header;
  RESMEM_ASSIGN_OR_RETURN(MappedFile file, FileSystem::Posix().Map(path));
  const FileBytes bytes(std::move(file));
  CsvRecords records(path, CsvText(bytes));
  RESMEM_RETURN_IF_ERROR(records.Next(&header).status());
  return header;
}

Result<std::vector<std::string>> ColumnsThatTell(const Array& keys,
                                                 const std::vector<std::string>& names,
                                                 const Array& labels) {
  constexpr int64_t kFewRows = 20;  // of which anything may be true by chance
  const int64_t rows = labels.rows(), columns = keys.columns();
  std::vector<std::string> telling;
  if (rows < kFewRows || rows != keys.rows() || labels.columns() != 1 ||
      std::ssize(names) != columns) {
    return telling;
  }
  std::vector<int64_t> label(static_cast<size_t>(rows));
  RESMEM_RETURN_IF_ERROR(labels.ReadIntegers(0, rows, label));
  const size_t most = std::set<int64_t>(label.begin(), label.end()).size();
  std::vector<std::unordered_map<float, int64_t>> seen(names.size());
  std::vector<size_t> left(most < 2 ? 0 : names.size());
  for (size_t i = 0; i < left.size(); ++i) left[i] = i;
  const int64_t piece = std::clamp<int64_t>((int64_t{1} << 20) / columns, 1, rows);
  std::vector<float> values(static_cast<size_t>(piece * columns));
  for (int64_t begin = 0; begin < rows && !left.empty(); begin += piece) {
    const int64_t count = std::min(piece, rows - begin);
    const std::span<float> block = std::span(values).first(static_cast<size_t>(count * columns));
    RESMEM_RETURN_IF_ERROR(keys.ReadFloats(begin, count, block));
    std::erase_if(left, [&](size_t column) {
      for (int64_t row = 0; row < count; ++row) {
        const float value = block[static_cast<size_t>(row * columns) + column];
        const int64_t own = label[static_cast<size_t>(begin + row)];
        if (seen[column].emplace(value, own).first->second != own) return true;
        if (seen[column].size() > most) return true;
      }
      return false;
    });
  }
  for (const size_t column : left) {
    if (seen[column].size() >= 2) telling.push_back(names[column]);
  }
  return telling;
}

}  // namespace resmem
