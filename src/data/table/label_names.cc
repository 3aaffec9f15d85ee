#include "data/table/label_names.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "data/formats/csv.h"
#include "data/made_array.h"
#include "support/text.h"

namespace resmem {
namespace {

std::string ListClasses(const std::vector<std::string>& names) {
  constexpr size_t kShown = 10;
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i == kShown) return text + ", ...";
    text += (i == 0 ? "" : ", ") + names[i];
  }
  return text;
}

// "cat" and "dog" of "logit_cat" and "logit_dog": without what all have in common up to its last
// separator.
std::vector<std::string> NamesOfColumns(const std::vector<std::string>& columns) {
  std::string_view common = columns.front();
  for (const std::string_view column : columns) {
    const auto [end, _] = std::mismatch(common.begin(), common.end(), column.begin(), column.end());
    common = common.substr(0, static_cast<size_t>(end - common.begin()));
  }
  const size_t separator = common.find_last_of("_-.:/ =");
  const size_t drop = separator == std::string_view::npos ? 0 : separator + 1;
  std::vector<std::string> names;
  for (const std::string& column : columns) names.push_back(column.substr(drop));
  return names;
}

std::vector<std::string> Sorted(const std::set<std::string>& found) {
  std::vector<std::pair<double, std::string>> sorted;
  bool numbers = true;
  for (const std::string& name : found) {
    double number = 0;
    numbers = numbers && ParseCsvNumber(name, &number);
    sorted.emplace_back(numbers ? number : 0, name);
  }
  if (numbers) std::stable_sort(sorted.begin(), sorted.end());
  std::vector<std::string> names;
  for (auto& [number, name] : sorted) names.push_back(std::move(name));
  return names;
}

Result<std::vector<std::string>> LearnNames(const ClassNaming& naming, const std::string& name,
                                            const std::vector<std::string>& texts) {
  std::set<std::string> found(texts.begin(), texts.end());
  found.erase("");
  if (!naming.columns.empty()) {
    std::vector<std::string> columns = NamesOfColumns(naming.columns);
    const bool all = std::all_of(found.begin(), found.end(), [&](const std::string& text) {
      return std::find(columns.begin(), columns.end(), text) != columns.end();
    });
    if (all) return columns;
  }
  std::vector<std::string> names = Sorted(found);
  if (naming.classes == 0 || static_cast<int64_t>(names.size()) == naming.classes) return names;
  return Status(ErrorCode::kBadData,
                Text(name, ": has ", names.size(), " different names (", ListClasses(names),
                     "), but the logits have ", naming.classes,
                     " columns; give the name of each column in its order with --classes FILE"));
}

// Whether every label is one of the numbers 0 to classes - 1.
Result<bool> AreClassNumbers(const ClassNaming& naming, const Array& labels) {
  std::vector<int64_t> values(static_cast<size_t>(labels.rows()));
  RESMEM_RETURN_IF_ERROR(labels.ReadIntegers(0, labels.rows(), values));
  return std::all_of(values.begin(), values.end(), [&](int64_t value) {
    return value >= 0 && (naming.classes == 0 || value < naming.classes);
  });
}

}  // namespace

Status NumberLabels(const ClassNaming& naming, Array* labels, std::vector<std::string>* names) {
  if (labels->columns() != 1) return {};  // refused where shapes are checked
  if (labels->type() != ElementType::kText && !naming.numbers_are_names) {
    if (!naming.numbers_may_be_names) return {};
    RESMEM_ASSIGN_OR_RETURN(const bool numbers, AreClassNumbers(naming, *labels));
    if (numbers) return {};
  }
  RESMEM_ASSIGN_OR_RETURN(const std::vector<std::string> texts,
                          labels->ReadText(0, labels->rows()));
  *names = naming.known;
  if (names->empty()) {
    RESMEM_ASSIGN_OR_RETURN(*names, LearnNames(naming, labels->name(), texts));
  }
  if (naming.new_names) {
    std::set<std::string> others(texts.begin(), texts.end());
    others.erase("");
    for (const std::string& name : *names) others.erase(name);
    for (std::string& name : Sorted(others)) names->push_back(std::move(name));
  }
  std::map<std::string_view, int64_t> numbers;
  for (size_t c = 0; c < names->size(); ++c) {
    if (numbers.emplace((*names)[c], static_cast<int64_t>(c)).second) continue;
    return {ErrorCode::kBadData, Text(labels->name(), ": two classes are named \"", (*names)[c],
                                      "\"; names stand for one class each")};
  }
  std::vector<int64_t> values;
  values.reserve(texts.size());
  for (const std::string& text : texts) {
    const auto found = numbers.find(text);
    if (found == numbers.end() && !(text.empty() && naming.skip_missing)) {
      return {ErrorCode::kBadData,
              Text(labels->name(), ": row ", values.size(), " is \"", text,
                   "\", which is none of the ", names->size(), " classes (", ListClasses(*names),
                   "); correct it, leave the row out, or append such rows as new classes "
                   "(resmem append --new-classes)")};
    }
    values.push_back(found == numbers.end() ? -1 : found->second);
  }
  *labels = MakeArray(labels->name(), values);
  return {};
}

}  // namespace resmem
