// A CSV table whose columns have roles: which are the keys, which is the label.
//
// A memory that was made from a table keeps its layout (notes[kTableNote]), so that later tables
// are read alike: the same columns by name, in any order, the same scales, categories and classes.
#ifndef RESMEM_DATA_TABLE_H_
#define RESMEM_DATA_TABLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "resmem/status.h"

namespace resmem {

// What a key column without a value counts as.
enum class MissingRule {
  kRefuse,  // an error that names the place
  kMean,    // the column's mean; of a category: none of those known
};
// What is done to key columns, so that one in thousands does not drown one in tenths.
enum class TableScale {
  kStandard,  // minus the column's mean, divided by its standard deviation
  kNone,
};

// Columns by name; a name that ends in * stands for every column without another role that begins
// so.  An empty label, id, source, split or slice: the column of that usual name, if there is one.
struct TableRoles {
  std::vector<std::string> keys;  // empty: every column without another role
  std::vector<std::string> ignored;
  std::vector<std::string> logits, probabilities;  // one of the two; regression: predictions
  std::vector<std::string> targets;                // regression
  std::vector<std::string> tags;                   // each a tag NAME=VALUE of the row
  std::string label, id, source, split, slice;
  std::optional<MissingRule> missing;  // none: the layout's; without one, refuse
  TableScale scale = TableScale::kStandard;
};

struct TableLayout {
  struct Key {
    std::string column;
    // Of a column of text: one key for each, 0 or 1 (scaled: two categories are 1 apart).
    std::vector<std::string> categories;
    double mean = 0, deviation = 1;  // of a column of numbers, over the rows it was made of

    bool operator==(const Key&) const = default;
  };
  std::vector<Key> keys;
  std::vector<std::string> logits, targets, tags;
  bool probabilities = false;                   // are what the logits' columns hold
  std::string label, id, source, split, slice;  // "" where there is none
  MissingRule missing = MissingRule::kRefuse;
  TableScale scale = TableScale::kStandard;
  bool named_labels = false;  // labels are class names, even those that look like numbers

  int64_t dim() const;
  bool operator==(const TableLayout&) const = default;
};

// The note of a memory that holds its layout as JSON.
inline constexpr char kTableNote[] = "table";
std::string TableLayoutText(const TableLayout& layout);
// `name`: of the memory, for messages.  kCorrupt where it is none.
Result<TableLayout> ParseTableLayout(const std::string& text, const std::string& name);

struct TableSource {
  std::string path;  // "-": standard input
  TableRoles roles;
  std::optional<TableLayout> layout;  // of the memory that the rows are for; roles take precedence
  bool labels_wanted = true;          // false: labels and targets are not read; they may be missing
};

// What reading one table did, for the person who gave it.
struct TableReading {
  TableLayout layout;
  int64_t filled = 0;              // values that were missing
  int64_t unknown_categories = 0;  // values that the layout's categories do not know
  // Key columns of which each value goes with one label only: perhaps copies of the label.
  std::vector<std::string> telltale;
};

}  // namespace resmem

#endif  // RESMEM_DATA_TABLE_H_
