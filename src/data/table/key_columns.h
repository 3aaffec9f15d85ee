// Key columns of a table: numbers and categories as they stand in it, then as keys.
#ifndef RESMEM_DATA_TABLE_KEY_COLUMNS_H_
#define RESMEM_DATA_TABLE_KEY_COLUMNS_H_

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "resmem/data/table.h"

namespace resmem {

// "", NA, N/A, NaN, null, None, ? and the like.
bool IsMissingText(std::string_view field);

// What a first look at a column of a new table finds: numbers, or which categories.
class KeyColumnLook {
 public:
  static constexpr size_t kMostCategories = 64;

  void See(const std::string& field, const std::string& label);

  bool numbers() const { return numbers_; }
  bool has_values() const { return values_ > 0; }
  bool too_many() const { return !numbers_ && categories_.size() > kMostCategories; }
  std::vector<std::string> categories() const { return {categories_.begin(), categories_.end()}; }
  // Each of its values, of which there are `labels` at most, goes with one label only.
  bool tells_the_label(size_t labels) const;

 private:
  bool numbers_ = true, consistent_ = true;
  int64_t values_ = 0;
  std::set<std::string> categories_;  // one more than is allowed at most
  std::unordered_map<std::string, std::string> label_of_;
};

// The values of one column: numbers, or for categories their places, -1 for one that is not known.
// What is missing is NaN.
struct KeyColumn {
  const TableLayout::Key* key = nullptr;
  std::vector<double> values;
};

// Mean and deviation of the finite values of the rows where `counts` (empty: of all rows).
void MeasureColumn(const std::vector<double>& values, const std::vector<bool>& counts,
                   TableLayout::Key* key);

// rows x layout.dim().  What is missing is filled (counted in `filled`) where the rule allows it,
// else NaN.
std::vector<float> MakeKeys(const TableLayout& layout, MissingRule rule,
                            const std::vector<KeyColumn>& columns, int64_t rows, int64_t* filled);

}  // namespace resmem

#endif  // RESMEM_DATA_TABLE_KEY_COLUMNS_H_
