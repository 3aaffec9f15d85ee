#include "data/formats/csv_records.h"

#include <algorithm>

#include "support/text.h"

namespace resmem {

CsvRecords::CsvRecords(const std::string& name, std::string_view text) : name_(name), rest_(text) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (rest_.starts_with(kByteOrderMark)) rest_.remove_prefix(kByteOrderMark.size());
  const size_t last = rest_.find_last_not_of("\r\n");
  rest_ = rest_.substr(0, last == std::string_view::npos ? 0 : last + 1);
  separator_ = SeparatorOf(rest_);
}

// A quoted name in the header may hold any of them.
char CsvRecords::SeparatorOf(std::string_view text) {
  bool quoted = false;
  char found = ',';
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == ',' || c == '\n') return c == ',' ? ',' : found;
    if (c == ';' || (c == '\t' && found != ';')) found = c;
  }
  return found;
}

// Leaves rest_ at the comma or line end after the field.
Status CsvRecords::TakeField(std::string* field) {
  field->clear();
  if (!rest_.starts_with('"')) {
    const char ends[] = {separator_, '\n'};
    const size_t end =
        std::min(rest_.find_first_of(std::string_view(ends, sizeof(ends))), rest_.size());
    *field = rest_.substr(0, end);
    if (end < rest_.size() && rest_[end] == '\n' && field->ends_with('\r')) field->pop_back();
    rest_.remove_prefix(end);
    return {};
  }
  for (rest_.remove_prefix(1);;) {
    const size_t quote = rest_.find('"');
    if (quote == std::string_view::npos) {
      return {ErrorCode::kBadData, Text(name_, ": the record in line ", record_line_,
                                        " has a quote that is never closed; close or double it")};
    }
    field->append(rest_.substr(0, quote));
    rest_.remove_prefix(quote + 1);
    if (!rest_.starts_with('"')) break;
    field->push_back('"');
    rest_.remove_prefix(1);
  }
  next_line_ += std::count(field->begin(), field->end(), '\n');
  if (rest_.starts_with("\r\n")) rest_.remove_prefix(1);
  if (rest_.empty() || rest_[0] == separator_ || rest_[0] == '\n') return {};
  return {
      ErrorCode::kBadData,
      Text(name_, ": the record in line ", record_line_,
           " goes on after a closing quote; put separators between fields and double the quotes "
           "inside them")};
}

Result<bool> CsvRecords::Next(std::vector<std::string>* fields) {
  if (rest_.empty()) return false;
  record_line_ = next_line_;
  for (size_t count = 0;; ++count) {
    if (count == fields->size()) fields->emplace_back();
    RESMEM_RETURN_IF_ERROR(TakeField(&(*fields)[count]));
    const bool more = rest_.starts_with(separator_);
    if (!rest_.empty()) rest_.remove_prefix(1);
    if (more) continue;
    fields->resize(count + 1);
    ++next_line_;
    return true;
  }
}

}  // namespace resmem
