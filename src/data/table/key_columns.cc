#include "data/table/key_columns.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "data/formats/csv.h"

namespace resmem {

bool IsMissingText(std::string_view field) {
  const size_t first = field.find_first_not_of(" \t");
  if (first == std::string_view::npos) return true;
  field = field.substr(first, field.find_last_not_of(" \t") + 1 - first);
  constexpr std::array<std::string_view, 11> kMissing = {
      "NA", "N/A", "n/a", "NaN", "nan", "NAN", "null", "NULL", "None", "none", "?"};
  return std::find(kMissing.begin(), kMissing.end(), field) != kMissing.end();
}

void KeyColumnLook::See(const std::string& field, const std::string& label) {
  if (IsMissingText(field)) return;
  ++values_;
  double number = 0;
  numbers_ = numbers_ && ParseCsvNumber(field, &number);
  if (categories_.size() <= kMostCategories) categories_.insert(field);
  if (!consistent_) return;
  constexpr size_t kMostValues = 10'000;
  const auto [at, added] = label_of_.emplace(field, label);
  consistent_ = at->second == label && label_of_.size() <= kMostValues;
  if (!consistent_) label_of_.clear();
}

bool KeyColumnLook::tells_the_label(size_t labels) const {
  constexpr int64_t kFewValues = 20;  // of which anything may be true by chance
  return consistent_ && values_ >= kFewValues && labels >= 2 && label_of_.size() >= 2 &&
         label_of_.size() <= labels;
}

void MeasureColumn(const std::vector<double>& values, const std::vector<bool>& counts,
                   TableLayout::Key* key) {
  double sum = 0, squares = 0;
  int64_t count = 0;
  const auto each = [&](const auto& use) {
    for (size_t i = 0; i < values.size(); ++i) {
      if ((counts.empty() || counts[i]) && std::isfinite(values[i])) use(values[i]);
    }
  };
  each([&](double value) { sum += value, ++count; });
  key->mean = count == 0 ? 0 : sum / static_cast<double>(count);
  each([&](double value) { squares += (value - key->mean) * (value - key->mean); });
  key->deviation = count == 0 ? 0 : std::sqrt(squares / static_cast<double>(count));
  // Of values that overflow, or of a constant: nothing to divide by.
  if (!std::isfinite(key->mean)) key->mean = 0;
  if (!std::isfinite(key->deviation) || !(key->deviation > 0)) key->deviation = 1;
}

std::vector<float> MakeKeys(const TableLayout& layout, MissingRule rule,
                            const std::vector<KeyColumn>& columns, int64_t rows, int64_t* filled) {
  const bool scaled = layout.scale == TableScale::kStandard;
  // Two rows of different categories are 1 apart, as rows are that differ by one deviation.
  const float present = scaled ? static_cast<float>(1 / std::numbers::sqrt2) : 1.0f;
  const auto dim = static_cast<size_t>(layout.dim());
  std::vector<float> keys(static_cast<size_t>(rows) * dim, 0.0f);
  size_t first = 0;
  for (const KeyColumn& column : columns) {
    const TableLayout::Key& key = *column.key;
    for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
      float* const out = keys.data() + row * dim + first;
      double value = column.values[row];
      const bool missing = std::isnan(value);
      if (missing && rule == MissingRule::kRefuse) {
        *out = std::numeric_limits<float>::quiet_NaN();
        continue;
      }
      if (missing) ++*filled;
      if (key.categories.empty()) {
        if (missing) value = key.mean;
        *out = static_cast<float>(scaled ? (value - key.mean) / key.deviation : value);
      } else if (!missing && value >= 0) {
        out[static_cast<size_t>(value)] = present;
      }
    }
    first += std::max<size_t>(1, key.categories.size());
  }
  return keys;
}

}  // namespace resmem
