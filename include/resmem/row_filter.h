// Tags of rows, and answers from only those rows whose tags match (docs/filters.md).
//
// A row's tags are text: names and values, as in "site=north;time=2026-11-19;scanner=b".  A name
// may occur more than once; a value alone is that of the name "tag".
#ifndef RESMEM_ROW_FILTER_H_
#define RESMEM_ROW_FILTER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "resmem/residual_memory.h"
#include "resmem/status.h"

namespace resmem {

inline constexpr size_t kMostTagBytes = 4096;  // of one row

// Of names: letters, digits, _, - and .
bool IsTagNameCharacter(char c);
// kBadData with what is wrong.  "" are no tags.
Status CheckTags(std::string_view tags);

// Conditions that must all hold, separated by commas:
//   NAME=VALUE|VALUE    one of the row's values of this name is one of these
//   NAME!=VALUE|VALUE   none is
//   NAME<VALUE          also <=, > and >=: some value is a number (of `time`: a date) that is
// `time` is compared as a point in time, other values as numbers where both are numbers.
class RowFilter {
 public:
  // Errors: kInvalidArgument.
  static Result<RowFilter> Parse(const std::string& text);

  bool Matches(std::string_view tags) const;
  const std::string& text() const { return text_; }

 private:
  enum class Comparison { kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual };
  struct Condition {
    std::string name;
    Comparison comparison = Comparison::kEqual;
    std::vector<std::string> values;

    bool Holds(std::string_view value) const;
  };
  static Result<Condition> ParseCondition(std::string_view text);

  std::string text_;
  std::vector<Condition> conditions_;
};

// The memory's files with only the living rows that match, searched exactly: it answers bit for bit
// as a memory of these rows alone would whose keys are transformed and whose answer was tuned as
// this one's.  Row numbers stay.  It may have fewer rows than k, or none: look at rows().
Result<ResidualMemory> RowsWhere(const ResidualMemory& memory, const RowFilter& filter);

// The ids of the living rows that match, in the order of the rows.
std::vector<uint64_t> IdsWhere(const ResidualMemory& memory, const RowFilter& filter);

}  // namespace resmem

#endif  // RESMEM_ROW_FILTER_H_
