#include "data/table/table_reader.h"

#include <unistd.h>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

#include "data/formats/csv.h"
#include "data/formats/csv_records.h"
#include "data/formats/formats.h"
#include "data/made_array.h"
#include "data/memory_guard.h"
#include "data/packed/xz.h"
#include "data/table/key_columns.h"
#include "data/table/table_columns.h"
#include "resmem/row_filter.h"
#include "support/text.h"

namespace resmem {
namespace {

using Fields = std::vector<std::string>;

Result<SharedBytes> ReadStandardInput() {
  std::vector<std::byte> read;
  for (;;) {
    constexpr size_t kPiece = 1 << 16;
    const size_t before = read.size();
    read.resize(before + kPiece);
    const ssize_t got = ::read(STDIN_FILENO, read.data() + before, kPiece);
    if (got < 0) return Status(ErrorCode::kIo, "standard input: cannot be read to its end");
    read.resize(before + static_cast<size_t>(got));
    if (got == 0) break;
  }
  std::unique_ptr<std::byte[]> memory(new std::byte[read.size()]);
  std::copy(read.begin(), read.end(), memory.get());
  return std::make_shared<const FileBytes>(std::move(memory), read.size());
}

Result<SharedBytes> ReadTableBytes(const std::string& path) {
  if (path == "-") return ReadStandardInput();
  if (FileSystem::Posix().IsDirectory(path)) {
    return Status(ErrorCode::kInvalidArgument,
                  Text(path, ": is a folder, but a table is one file"));
  }
  RESMEM_ASSIGN_OR_RETURN(MappedFile file, FileSystem::Posix().Map(path));
  if (LooksLikeXz(file.bytes())) return UnpackXz(path, file.bytes());
  RESMEM_RETURN_IF_ERROR(CheckNoParquet(path, file.bytes()));
  return std::make_shared<const FileBytes>(std::move(file));
}

class TableReader {
 public:
  TableReader(const TableSource& source, Task task, bool skip_bad)
      : source_(source),
        task_(task),
        skip_bad_(skip_bad),
        name_(source.path == "-" ? "standard input" : source.path) {}

  Result<OpenedTable> Open() {
    RESMEM_ASSIGN_OR_RETURN(bytes_, ReadTableBytes(source_.path));
    RESMEM_RETURN_IF_ERROR(ReadHeader());
    DescribeRoles();
    RESMEM_RETURN_IF_ERROR(LookAtRows());
    RESMEM_RETURN_IF_ERROR(ReadValues());
    return Finish();
  }

 private:
  // A field that stops the reading, unless rows may be skipped.
  struct Place {
    int64_t line = 0, rows = 0;  // of the first, and how many there are
    size_t column = 0;
    std::string field;

    void Add(int64_t line_in, size_t column_in, const std::string& field_in) {
      if (rows++ > 0) return;
      line = line_in, column = column_in, field = field_in;
    }
  };

  Status Bad(int64_t line, size_t column, const std::string& words) const {
    return {ErrorCode::kBadData,
            Text(name_, ": line ", line, ", column \"", header_[column], "\" ", words)};
  }
  std::string NameOf(const std::optional<size_t>& column) const {
    return column ? header_[*column] : "";
  }

  Status ReadHeader() {
    CsvRecords records(name_, CsvText(*bytes_));
    RESMEM_ASSIGN_OR_RETURN(const bool any, records.Next(&header_));
    if (!any) return {ErrorCode::kBadData, Text(name_, ": holds no line; export it again")};
    RESMEM_RETURN_IF_ERROR(CheckCsvHeader(name_, header_));
    RESMEM_ASSIGN_OR_RETURN(columns_, FindTableColumns(source_, header_, task_));
    return {};
  }

  // The layout but for what the rows tell: scales and categories of a new table.
  void DescribeRoles() {
    if (source_.layout) layout_ = *source_.layout;
    if (!source_.layout || !source_.roles.keys.empty()) {
      layout_.keys.clear();
      layout_.scale = source_.roles.scale;
      for (const size_t column : columns_.keys) layout_.keys.push_back({header_[column], {}, 0, 1});
      new_ = true;
    }
    layout_.missing = source_.roles.missing.value_or(layout_.missing);
    if (!source_.roles.logits.empty()) layout_.probabilities = false;
    if (!source_.roles.probabilities.empty()) layout_.probabilities = true;
    if (source_.layout) return;
    for (const size_t column : columns_.logits) layout_.logits.push_back(header_[column]);
    for (const size_t column : columns_.targets) layout_.targets.push_back(header_[column]);
    for (const size_t column : columns_.tags) layout_.tags.push_back(header_[column]);
    layout_.label = NameOf(columns_.label);
    layout_.id = NameOf(columns_.id);
    layout_.source = NameOf(columns_.source);
    layout_.split = NameOf(columns_.split);
    layout_.slice = NameOf(columns_.slice);
  }

  template <typename Use>
  Status ForEachRow(const Use& use) const {
    CsvRecords records(name_, CsvText(*bytes_));
    Fields fields;
    RESMEM_RETURN_IF_ERROR(records.Next(&fields).status());
    for (;;) {
      RESMEM_ASSIGN_OR_RETURN(const bool more, records.Next(&fields));
      if (!more) return {};
      RESMEM_RETURN_IF_ERROR(use(records.line(), fields));
    }
  }

  // Counts the rows, and finds out what the key columns of a new table hold.
  Status LookAtRows() {
    std::vector<KeyColumnLook> looks(columns_.keys.size());
    std::set<std::string> labels;
    constexpr size_t kMostLabels = 100'000;
    const bool labeled = columns_.label.has_value();
    RESMEM_RETURN_IF_ERROR(ForEachRow([&](int64_t line, const Fields& fields) -> Status {
      if (fields.size() != header_.size()) {
        return {ErrorCode::kBadData,
                Text(name_, ": line ", line, " has ", fields.size(), " fields, but the header has ",
                     header_.size(), "; quote fields that hold separators")};
      }
      ++rows_;
      if (!new_) return {};
      const std::string label = labeled ? fields[*columns_.label] : "";
      if (labeled && labels.size() < kMostLabels) labels.insert(label);
      for (size_t i = 0; i < looks.size(); ++i) looks[i].See(fields[columns_.keys[i]], label);
      return {};
    }));
    if (rows_ == 0) return {ErrorCode::kBadData, Text(name_, ": has a header, but no row")};
    if (!new_) return {};
    for (size_t i = 0; i < looks.size(); ++i) {
      const std::string& column = header_[columns_.keys[i]];
      if (!looks[i].has_values()) {
        return {ErrorCode::kBadData, Text(name_, ": the column \"", column,
                                          "\" is empty in all rows; leave it out of the keys "
                                          "(--ignore-columns)")};
      }
      if (looks[i].too_many()) {
        return {ErrorCode::kBadData,
                Text(name_, ": the column \"", column, "\" holds text of more than ",
                     KeyColumnLook::kMostCategories,
                     " different values; a key is a number or one of at most that many categories: "
                     "leave the "
                     "column out of the keys (--ignore-columns)")};
      }
      if (!looks[i].numbers()) layout_.keys[i].categories = looks[i].categories();
      if (labeled && looks[i].tells_the_label(labels.size())) telltale_.push_back(column);
    }
    return {};
  }

  void ReadKey(int64_t line, const Fields& fields, size_t i) {
    const size_t column = columns_.keys[i];
    const std::string& field = fields[column];
    const TableLayout::Key& key = layout_.keys[i];
    double value = std::numeric_limits<double>::quiet_NaN();
    if (IsMissingText(field)) {
      if (layout_.missing == MissingRule::kRefuse) missing_.Add(line, column, field);
    } else if (key.categories.empty()) {
      if (!ParseCsvNumber(field, &value)) no_number_.Add(line, column, field);
    } else {
      const auto at = std::find(key.categories.begin(), key.categories.end(), field);
      value = at == key.categories.end() ? -1 : static_cast<double>(at - key.categories.begin());
      unknown_ += value < 0;
    }
    keys_[i].values.push_back(value);
  }

  void ReadNumbers(int64_t line, const Fields& fields, const std::vector<size_t>& columns,
                   std::vector<float>* out) {
    for (const size_t column : columns) {
      double value = std::numeric_limits<double>::quiet_NaN();
      if (!ParseCsvNumber(fields[column], &value)) no_number_.Add(line, column, fields[column]);
      out->push_back(static_cast<float>(value));
    }
  }

  Status ReadValues() {
    keys_.resize(layout_.keys.size());
    for (size_t i = 0; i < keys_.size(); ++i) keys_[i].key = &layout_.keys[i];
    const bool labeled = columns_.label && source_.labels_wanted;
    const bool targeted = source_.labels_wanted;
    RESMEM_RETURN_IF_ERROR(ForEachRow([&](int64_t line, const Fields& fields) -> Status {
      for (size_t i = 0; i < keys_.size(); ++i) ReadKey(line, fields, i);
      ReadNumbers(line, fields, columns_.logits, &logits_);
      if (targeted) ReadNumbers(line, fields, columns_.targets, &targets_);
      if (labeled) {
        labels_.push_back(fields[*columns_.label]);
        if (labels_.back().empty()) no_label_.Add(line, *columns_.label, "");
      }
      if (columns_.id) {
        int64_t id = 0;
        if (!ParseCsvNumber(fields[*columns_.id], &id)) {
          return Bad(line, *columns_.id,
                     Text("is \"", fields[*columns_.id],
                          "\", but ids are whole numbers from 0; name another column with "
                          "--id-column, or store it as text (--source-column of resmem memorize)"));
        }
        ids_.push_back(id);
      }
      for (const auto& [column, texts] : {std::pair(columns_.source, &sources_),
                                          {columns_.split, &splits_},
                                          {columns_.slice, &slices_}}) {
        if (column) texts->push_back(fields[*column]);
      }
      if (!columns_.tags.empty()) tags_.push_back(TagsOf(fields));
      return {};
    }));
    if (skip_bad_) return {};
    if (missing_.rows > 0) {
      return Bad(missing_.line, missing_.column,
                 Text("has no value (\"", missing_.field, "\"); ", missing_.rows,
                      " are missing in the ", rows_,
                      " rows; fill in each column's mean (--missing mean), leave such rows out "
                      "(--skip-bad) or the column (--ignore-columns)"));
    }
    if (no_number_.rows > 0) {
      return Bad(no_number_.line, no_number_.column,
                 Text("is \"", no_number_.field, "\", but a number is needed; ", no_number_.rows,
                      " such places: correct them, or leave their rows out (--skip-bad)"));
    }
    if (no_label_.rows > 0) {
      return Bad(no_label_.line, no_label_.column,
                 Text("has no label; ", no_label_.rows, " of ", rows_,
                      " rows have none: label them, or leave them out (--skip-bad)"));
    }
    return {};
  }

  // NAME=VALUE of each column that has a value.
  std::string TagsOf(const Fields& fields) const {
    std::string tags;
    for (const size_t column : columns_.tags) {
      if (IsMissingText(fields[column])) continue;
      std::string name = header_[column];
      for (char& c : name) {
        if (!IsTagNameCharacter(c)) c = '_';
      }
      tags += (tags.empty() ? "" : ";") + name + "=" + fields[column];
    }
    return tags;
  }

  // Rows that scales are measured on: those marked train, where any is.
  std::vector<bool> MeasuredRows() const {
    std::vector<bool> measured;
    for (const std::string& split : splits_) measured.push_back(split == "train" || split == "0");
    if (std::find(measured.begin(), measured.end(), true) == measured.end()) measured.clear();
    return measured;
  }

  // Whole numbers where all are: 3 and 3.0, as some programs write them.
  Array MakeLabels() {
    std::vector<int64_t> numbers;
    for (const std::string& label : labels_) {
      double number = 0;
      constexpr double kExact = 9e15;
      if (!ParseCsvNumber(label, &number) || std::floor(number) != number ||
          std::abs(number) > kExact) {
        break;
      }
      numbers.push_back(static_cast<int64_t>(number));
    }
    const std::string name = name_ + ":" + header_[*columns_.label];
    if (numbers.size() == labels_.size()) return MakeArray(name, numbers);
    return MakeArray(name, std::move(labels_));
  }

  Result<OpenedTable> Finish() {
    OpenedTable opened;
    if (new_) {
      const std::vector<bool> measured = MeasuredRows();
      for (size_t i = 0; i < keys_.size(); ++i) {
        if (!layout_.keys[i].categories.empty()) continue;
        MeasureColumn(keys_[i].values, measured, &layout_.keys[i]);
      }
    }
    DatasetArrays& arrays = opened.arrays;
    const std::vector<float> keys =
        MakeKeys(layout_, layout_.missing, keys_, rows_, &opened.reading.filled);
    arrays.keys = MakeArray(name_, keys, layout_.dim());
    const auto columns = [](const std::vector<size_t>& list) {
      return static_cast<int64_t>(list.size());
    };
    if (!columns_.logits.empty()) {
      arrays.probabilities = layout_.probabilities;
      arrays.logits = MakeArray(name_ + " (logits)", logits_, columns(columns_.logits));
    }
    if (!targets_.empty()) {
      arrays.targets = MakeArray(name_ + " (targets)", targets_, columns(columns_.targets));
    }
    if (!labels_.empty()) arrays.labels = MakeLabels();
    if (columns_.id) arrays.ids = MakeArray(name_ + ":" + NameOf(columns_.id), ids_);
    if (columns_.source) {
      arrays.sources = MakeArray(name_ + ":" + NameOf(columns_.source), std::move(sources_));
    }
    if (columns_.split) {
      arrays.split = MakeArray(name_ + ":" + NameOf(columns_.split), std::move(splits_));
    }
    if (columns_.slice) {
      arrays.slices = MakeArray(name_ + ":" + NameOf(columns_.slice), std::move(slices_));
    }
    if (!columns_.tags.empty()) arrays.tags = MakeArray(name_ + " (tags)", std::move(tags_));
    opened.reading.unknown_categories = unknown_;
    opened.reading.telltale = std::move(telltale_);
    opened.reading.layout = std::move(layout_);
    return opened;
  }

  const TableSource& source_;
  const Task task_;
  const bool skip_bad_;
  const std::string name_;
  SharedBytes bytes_;
  Fields header_;
  TableColumns columns_;
  TableLayout layout_;
  bool new_ = false;  // the rows tell scales and categories
  int64_t rows_ = 0, unknown_ = 0;
  std::vector<KeyColumn> keys_;
  std::vector<float> logits_, targets_;
  std::vector<int64_t> ids_;
  std::vector<std::string> labels_, sources_, splits_, slices_, tags_, telltale_;
  Place missing_, no_number_, no_label_;
};

}  // namespace

Result<OpenedTable> OpenTable(const TableSource& source, Task task, bool skip_bad) {
  return GuardMemory(source.path, [&] { return TableReader(source, task, skip_bad).Open(); });
}

}  // namespace resmem
