// Is a memory's index as good as was asked, and does the memory help?
#ifndef RESMEM_DIAGNOSIS_H_
#define RESMEM_DIAGNOSIS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "resmem/evaluation.h"

namespace resmem {

// Keys asked for their k neighbors, by the index and exactly.
struct IndexCheck {
  int64_t queries = 0, k = 0;
  double asked = 0;           // recall
  double recall = 0;          // the share of rows found that are as near as the last true neighbor
  double standard_error = 0;  // of the recall
  double index_seconds = 0, exact_seconds = 0;  // for all queries together, in one batch
};

struct Diagnosis {
  // On rows of the memory, each without itself, and on rows that were given.  None: search is
  // exact, or no rows were given.
  std::optional<IndexCheck> index, index_on_given;
  // Rows judged as the memory is used, and where it has an index once more with exact search.
  // None without rows that could be judged.
  std::optional<Evaluation> evaluation, exact_evaluation;
  // Accuracy, or for regression mean squared error, that the index costs.
  double lost = 0;
  // Base + memory is less accurate than the base, on rows that the base was not trained on.
  bool worse = false;
  std::vector<std::string> advice;  // plain sentences: what was found, and what to do
};

struct DiagnosisOptions {
  int64_t sample = 500;  // rows of the memory that are asked or judged, given ones that are asked
  std::optional<Role> only;  // of the rows given; see EvaluationOptions
  int threads = 0;
  Progress* progress = nullptr;
};

// `exact`: the same memory, opened as exact.  `rows`: labelled, or null; then a sample of the
// memory's own is judged, each row without itself, where the memory keeps logits.
Result<Diagnosis> Diagnose(const ResidualMemory& memory, const ResidualMemory& exact,
                           const RowSource* rows, const DiagnosisOptions& options = {});

}  // namespace resmem

#endif  // RESMEM_DIAGNOSIS_H_
