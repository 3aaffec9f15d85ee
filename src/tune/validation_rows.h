// What tuning keeps of the rows it chooses on: answers, logits and the nearest neighbors up to the
// largest k, found once; keys only where other transforms of them are tried, or where the base's
// last layer can be fitted to them.
#ifndef RESMEM_TUNE_VALIDATION_ROWS_H_
#define RESMEM_TUNE_VALIDATION_ROWS_H_

#include <cstdint>
#include <vector>

#include "eval/answers/row_block.h"
#include "resmem/tuner.h"

namespace resmem {

struct ValidationBlock {
  MatrixView logits() const { return {logit_values.data(), count(), outputs}; }
  MatrixView keys() const { return {key_values.data(), count(), dim}; }
  int64_t count() const { return neighbors.queries; }

  int64_t outputs = 0, dim = 0;
  std::vector<float> logit_values;   // count x outputs
  std::vector<int32_t> labels;       // classification
  std::vector<float> target_values;  // regression: count x outputs
  Neighbors neighbors;
  std::vector<float> key_values;  // count x dim, as given; or none
  std::vector<int64_t> exclude;   // see SearchOptions
  std::vector<int32_t> folds;     // 0 .. folds - 1 of each row; all 0 without folds
  std::vector<int32_t> slices;    // of each row, numbered; none where rows are independent
};

// Of a block's rows only those that may be tuned on get here; see Tune().
struct ValidationRows {
  std::vector<ValidationBlock> blocks;
  int64_t rows = 0;
  int64_t rows_at_distance_zero = 0;
  int64_t train_rows = 0;       // marked train, and used because no row is marked validation
  double typical_distance = 0;  // see DefaultGrid()
  double search_seconds = 0;
  int64_t folds = 0;      // 0 or 1: none
  int64_t largest_k = 0;  // that was searched; the memory may have fewer rows
};

// Median over all rows of the distance to the tenth neighbor, or the last.
double TypicalDistance(const std::vector<ValidationBlock>& blocks);

// `transforms`: of keys that will be tried on the rows.
// Errors: those of RowBlock; kInvalidArgument (rows marked test, folds), kBadData (no rows),
// kResourceExhausted (more than options.memory_limit), kCancelled.
Result<ValidationRows> CollectValidationRows(const Predictor& predictor, const RowSource& source,
                                             const TuneOptions& options, int64_t largest_k,
                                             const std::vector<KeyTransform>& transforms);

}  // namespace resmem

#endif  // RESMEM_TUNE_VALIDATION_ROWS_H_
