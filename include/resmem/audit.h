// Rows of a memory that deserve a look: likely label errors, near-duplicates, and rows that make
// answers to held-out rows worse.
#ifndef RESMEM_AUDIT_H_
#define RESMEM_AUDIT_H_

#include <cstdint>
#include <vector>

#include "resmem/predictor.h"

namespace resmem {

// A row whose neighbors, weighed as in an answer and without the row itself, have another label.
struct SuspectRow {
  int64_t row = 0;
  int32_t suggested = -1;  // the label with the most weight
  int32_t base = -1;       // the base's answer
  float disagreement = 0;  // weight of the neighbors with another label than the row's, 0 .. 1
  float residual = 0;      // half of sum |r|: 1 - the base's probability of the row's label
  double score() const {   // the most suspicious have the largest
    return static_cast<double>(disagreement) * static_cast<double>(residual);
  }
};

// Two rows whose keys are much nearer to each other than rows usually are.
struct TwinRows {
  int64_t row = 0, other = 0;  // row < other
  float distance = 0;
};

// A row of the memory in the answers to held-out rows.  Exact: each answer was computed again
// without the row, its place taken by the next neighbor; parameters and key transform stay.
struct RowEffect {
  int64_t row = 0;
  int64_t answers = 0;  // in which it had a say
  // Sum over these of -log p(label) with the row, less without it; regression: of the squared
  // error, the mean over outputs.  Above 0: held-out answers are better without the row.
  double harm = 0;
  int64_t wrong_with = 0, wrong_without = 0;  // answers that are right only without, only with it
};

struct AuditOptions {
  // Rows that are asked for their neighbors: for suspects those about which the base was most
  // wrong, for twins rows spread evenly.  0: all.
  int64_t most = 0;
  int64_t listed = 0;  // lines of each list; 0: all
  int threads = 0;
  Progress* progress = nullptr;
};

struct Audit {
  int64_t checked = 0, suspected = 0;  // rows asked, for twins and for suspects
  double duplicate_distance = 0;       // a hundredth of the median distance to the nearest row
  // Classification: those for which another label has more weight than half of all, the most
  // suspicious first; and how many there are, listed or not.
  std::vector<SuspectRow> suspects;
  int64_t all_suspects = 0;
  std::vector<TwinRows> twins;  // the nearest first
  int64_t all_twins = 0;
};

// Errors: kCorrupt (a damaged memory), kCancelled.
Result<Audit> AuditMemory(const Predictor& predictor, const AuditOptions& options = {});

struct HarmReport {
  Method method =
      Method::kResMem;  // whose answers: the memory's, or ResMem's where it is the base's
  int64_t rows = 0;     // held out
  double loss = 0;      // mean over them, of the answers as they are
  std::vector<RowEffect> harmful;  // harm above 0, the most harmful first
  int64_t all_harmful = 0;
};

// `rows`: held out, with logits and labels or targets.  Costs k + 1 answers a row.
// Errors: those of Predictor, kBadData (rows that do not fit the memory, or lack labels).
Result<HarmReport> MeasureHarm(const Predictor& predictor, const RowSource& rows,
                               const AuditOptions& options = {});

}  // namespace resmem

#endif  // RESMEM_AUDIT_H_
