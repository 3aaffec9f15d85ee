// What a memory is made from and evaluated on: rows of (key, logits, label).
//
//   keys     rows x dim       the base model's embedding of each example
//   logits   rows x classes   its output before softmax; for regression its prediction
//   labels   rows             class numbers 0 .. classes-1
//   targets  rows x outputs   regression only, instead of labels
//
// A row carries its role, so that tuning on test rows can be refused.
#ifndef RESMEM_ROWS_H_
#define RESMEM_ROWS_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include "resmem/matrix_view.h"
#include "resmem/status.h"

namespace resmem {

enum class Task { kClassification, kRegression };
enum class Role { kUnmarked, kTrain, kValidation, kTest };
const char* RoleName(Role role);

// A block of rows in the caller's memory.  Spans are empty if the array is absent.
struct Rows {
  MatrixView keys;
  MatrixView logits;                // classification: logits; regression: the base's predictions
  std::span<const int32_t> labels;  // classification
  MatrixView targets;               // regression
  std::span<const uint64_t> ids;    // given by the user; empty: numbered by the memory
  std::span<const std::string> sources;  // where an example came from; empty: none
  std::span<const Role> roles;           // empty: unmarked
  std::span<const std::string> slices;   // the group that each row is reported under; empty: none
  std::span<const std::string> tags;     // of each row, as CheckTags() has them; empty: none

  int64_t count() const { return keys.rows; }
  Rows Slice(int64_t begin, int64_t count) const;
};

// Where rows come from, in consecutive blocks.  What it was made of must outlive it.
class RowSource {
 public:
  using Use = std::function<Status(int64_t begin, const Rows& rows)>;
  RowSource(int64_t rows, std::function<Status(const Use&)> read)
      : rows_(rows), read_(std::move(read)) {}

  int64_t rows() const { return rows_; }
  // Calls `use` for each block until all rows are read or an error occurs.  Every call starts
  // from the first row.
  Status Read(const Use& use) const { return read_(use); }

 private:
  int64_t rows_;
  std::function<Status(const Use&)> read_;
};
// The caller's own arrays, uncopied.  block_rows 0: blocks of about 64 MB.
RowSource ReadRows(const Rows& rows, int64_t block_rows = 0);

}  // namespace resmem

#endif  // RESMEM_ROWS_H_
