#include "data/formats/csv.h"

#include <charconv>
#include <cstring>
#include <memory>
#include <set>
#include <utility>

#include "data/formats/csv_records.h"
#include "support/text.h"

namespace resmem {
namespace {

struct Column {
  std::string name;
  ElementType type = ElementType::kInt64;
  int64_t text_line = 0;   // kText: where the first field that is no number stands
  std::string text_field;  // and what it holds
};

// What one pass over the file found.
struct Table {
  std::string name;
  SharedBytes bytes;
  std::vector<Column> columns;
  int64_t rows = 0;
};

template <typename T>
bool ParseNumber(std::string_view field, T* value) {
  const size_t first = field.find_first_not_of(" \t");
  if (first == std::string_view::npos) return false;
  field = field.substr(first, field.find_last_not_of(" \t") + 1 - first);
  if (field.starts_with('+') && !field.starts_with("+-")) field.remove_prefix(1);
  const auto parsed = std::from_chars(field.data(), field.data() + field.size(), *value);
  return parsed.ec == std::errc() && parsed.ptr == field.data() + field.size();
}

void Classify(const std::string& field, int64_t line, Column* column) {
  int64_t integer = 0;
  double number = 0;
  if (column->type == ElementType::kInt64 && !ParseNumber(field, &integer)) {
    column->type = ElementType::kFloat64;
  }
  if (column->type == ElementType::kFloat64 && !ParseNumber(field, &number)) {
    column->type = ElementType::kText;
    column->text_line = line;
    column->text_field = field;
  }
}

Result<Table> Scan(const std::string& name, const SharedBytes& bytes) {
  Table table{name, bytes, {}, 0};
  CsvRecords records(name, CsvText(*bytes));
  std::vector<std::string> fields;
  RESMEM_ASSIGN_OR_RETURN(const bool has_header, records.Next(&fields));
  if (!has_header) {
    return Status(ErrorCode::kBadData, Text(name, ": holds no line; export it again"));
  }
  RESMEM_RETURN_IF_ERROR(CheckCsvHeader(name, fields));
  for (std::string& field : fields) {
    table.columns.push_back({std::move(field), ElementType::kInt64, 0, {}});
  }
  for (;; ++table.rows) {
    RESMEM_ASSIGN_OR_RETURN(const bool more, records.Next(&fields));
    if (!more) return table;
    if (fields.size() != table.columns.size()) {
      return Status(ErrorCode::kBadData,
                    Text(name, ": line ", records.line(), " has ", fields.size(),
                         " fields, but the header has ", table.columns.size(),
                         "; quote fields that hold commas"));
    }
    for (size_t c = 0; c < fields.size(); ++c)
      Classify(fields[c], records.line(), &table.columns[c]);
  }
}

// Calls use(row, fields) for every record after the header; Scan() has accepted them all.
template <typename Use>
Status ForEachRow(const Table& table, Use use) {
  CsvRecords records(table.name, CsvText(*table.bytes));
  std::vector<std::string> fields;
  RESMEM_RETURN_IF_ERROR(records.Next(&fields).status());
  for (int64_t row = 0; row < table.rows; ++row) {
    RESMEM_RETURN_IF_ERROR(records.Next(&fields).status());
    use(row, fields);
  }
  return {};
}

// Columns [begin, end), all of `type`, parsed as T into one matrix; one column is a vector.
template <typename T>
Result<StoragePointer> ParseColumns(const Table& table, size_t begin, size_t end,
                                    ElementType type) {
  auto storage = std::make_unique<Array::Storage>();
  Layout& layout = storage->layout;
  layout.type = type;
  layout.item_bytes = sizeof(T);
  layout.shape = {table.rows};
  if (end - begin > 1) layout.shape.push_back(static_cast<int64_t>(end - begin));
  layout.strides = DenseStrides(layout.shape, sizeof(T), Order::kC);
  // Each value was at least one byte in the file: the product fits.
  const size_t size = static_cast<size_t>(table.rows) * (end - begin) * sizeof(T);
  std::unique_ptr<std::byte[]> memory(new std::byte[size]);
  std::byte* out = memory.get();
  RESMEM_RETURN_IF_ERROR(ForEachRow(table, [&](int64_t, const std::vector<std::string>& fields) {
    for (size_t c = begin; c < end; ++c, out += sizeof(T)) {
      T value{};
      ParseNumber(fields[c], &value);
      std::memcpy(out, &value, sizeof(T));
    }
  }));
  storage->bytes = std::make_shared<const FileBytes>(std::move(memory), size);
  return storage;
}

Result<StoragePointer> OpenColumn(const Table& table, size_t c) {
  const ElementType type = table.columns[c].type;
  if (type == ElementType::kInt64) return ParseColumns<int64_t>(table, c, c + 1, type);
  if (type == ElementType::kFloat64) return ParseColumns<double>(table, c, c + 1, type);
  auto storage = std::make_unique<Array::Storage>();
  storage->layout.type = ElementType::kText;
  storage->layout.shape = {table.rows};
  storage->layout.strides = {0};
  RESMEM_RETURN_IF_ERROR(ForEachRow(table, [&](int64_t, std::vector<std::string>& fields) {
    storage->text.push_back(std::move(fields[c]));
  }));
  return storage;
}

Result<StoragePointer> OpenWhole(const Table& table) {
  if (table.columns.size() == 1) return OpenColumn(table, 0);
  ElementType type = ElementType::kInt64;
  for (const Column& column : table.columns) {
    if (column.type == ElementType::kText) {
      return Status(ErrorCode::kBadData,
                    Text(table.name, ": line ", column.text_line, ", column \"", column.name,
                         "\" is \"", column.text_field,
                         "\", but a matrix needs numbers; correct it, or name one column after a "
                         "colon, as in ",
                         table.name, ":", table.columns[0].name));
    }
    if (column.type == ElementType::kFloat64) type = ElementType::kFloat64;
  }
  const size_t end = table.columns.size();
  if (type == ElementType::kInt64) return ParseColumns<int64_t>(table, 0, end, type);
  return ParseColumns<double>(table, 0, end, type);
}

}  // namespace

Result<FileContent> ReadCsv(const std::string& name, const SharedBytes& bytes) {
  RESMEM_ASSIGN_OR_RETURN(Table scanned, Scan(name, bytes));
  const auto table = std::make_shared<const Table>(std::move(scanned));
  FileContent content;
  for (size_t c = 0; c < table->columns.size(); ++c) {
    const Column& column = table->columns[c];
    content.members.push_back({{column.name, column.type, {table->rows}}, {}, [table, c] {
                                 return OpenColumn(*table, c);
                               }});
  }
  content.whole = [table] { return OpenWhole(*table); };
  return content;
}

Status CheckCsvHeader(const std::string& name, const std::vector<std::string>& header) {
  constexpr size_t kMaxColumns = 1 << 20;
  if (header.size() > kMaxColumns) {
    return {ErrorCode::kBadData, Text(name, ": has ", header.size(), " columns, at most ",
                                      kMaxColumns, " are accepted")};
  }
  std::set<std::string> names;
  bool all_numbers = true;
  bool counted = true;  // 0, 1, 2, ...: the names that pandas gives
  for (size_t i = 0; i < header.size(); ++i) {
    double number = 0;
    all_numbers = all_numbers && ParseNumber(header[i], &number);
    counted = counted && header[i] == std::to_string(i);
    if (!names.insert(header[i]).second) {
      return {ErrorCode::kBadData,
              Text(name, ": the header names the column \"", header[i], "\" twice; rename one")};
    }
  }
  if (!all_numbers || counted) return {};
  return {ErrorCode::kBadData,
          Text(name, ": line 1 holds only numbers, but must name the columns; add a header line")};
}

bool ParseCsvNumber(std::string_view field, int64_t* value) {
  return ParseNumber(field, value);
}

bool ParseCsvNumber(std::string_view field, double* value) {
  return ParseNumber(field, value);
}

std::string_view CsvText(const FileBytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.bytes().data()), bytes.bytes().size()};
}

}  // namespace resmem
