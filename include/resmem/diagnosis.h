// Does a memory's index reach its recall, and does the memory help?
#ifndef RESMEM_DIAGNOSIS_H_
#define RESMEM_DIAGNOSIS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "resmem/evaluation.h"

namespace resmem {

// The k neighbors of some keys, found with the index and exactly.
struct IndexCheck {
  static constexpr int64_t kFewestForError = 30;

  int64_t queries = 0, k = 0;
  double asked = 0;           // requested recall
  double recall = 0;          // the share of rows found that are as near as the last true neighbor
  double standard_error = 0;  // of the recall; not a number below kFewestForError queries
  double low = 0;             // nineteen of twenty queries found this recall or more
  double least = 0;           // recall of the query that found least
  double index_seconds = 0, exact_seconds = 0;  // for all queries together, in one batch
};

struct Diagnosis {
  // On rows of the memory, leaving each one out, and on the rows given.  None: search is exact, or
  // no rows were given.
  std::optional<IndexCheck> index, index_on_given;
  // The rows evaluated as the memory is used, and once more with exact search if it has an index.
  // None without rows that can be evaluated.
  std::optional<Evaluation> evaluation, exact_evaluation;
  // Accuracy, or for regression mean squared error, that the index costs.
  double lost = 0;
  // The evaluation is of rows that the base was not trained on: none marked train, none of the
  // memory's own unless its logits are out-of-fold.
  bool judged = false;
  // Evaluated, and base + memory is less accurate than the base on these rows (has the larger
  // error) or has the worse NLL, by any amount: the interval does not matter.
  bool worse = false;
  std::string verdict;              // one sentence: better or worse by how much, or why none
  std::vector<std::string> advice;  // plain sentences: what was found, and what to do
};

struct DiagnosisOptions {
  int64_t sample = 500;  // rows of the memory to check, and given rows to measure the recall on
  // The rows given have no labels or no logits: they serve for the recall only.
  bool unlabeled = false;
  std::optional<Role> only{};  // of the rows given; see EvaluationOptions
  int threads = 0;
  Progress* progress = nullptr;
};

// `exact`: the same memory, opened as exact.  `rows`: all are evaluated.  Null: a sample of the
// memory's own rows is, leaving each one out, if the memory keeps logits.
Result<Diagnosis> Diagnose(const ResidualMemory& memory, const ResidualMemory& exact,
                           const RowSource* rows, const DiagnosisOptions& options = {});

// The requested recall: that of index_info(), or of an index that will be made once there are
// enough rows.  None: search is meant to be exact.
std::optional<double> AskedRecall(const ResidualMemory& memory);

}  // namespace resmem

#endif  // RESMEM_DIAGNOSIS_H_
