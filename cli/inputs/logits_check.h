// Do logits and labels look as if they belong together?  Looked at while rows pass by.
#ifndef RESMEM_CLI_INPUTS_LOGITS_CHECK_H_
#define RESMEM_CLI_INPUTS_LOGITS_CHECK_H_

#include <cstdint>

#include "console/console.h"
#include "resmem/evaluation.h"

namespace resmem::cli {

// What to ask about logits that look like probabilities: none is below 0, each row sums to 1.
inline constexpr char kProbabilitiesAsked[] =
    "these logits look like probabilities: none is below 0, and each row sums to 1. Are they? Then "
    "give them with --probabilities instead of --logits";
bool AllProbabilities(MatrixView logits);

// Warns where the base, right on `correct` of `rows`, is about as good as chance.
void WarnOfChance(int64_t correct, int64_t rows, int64_t classes, Console& console);

// Classification.  Not for several threads at once.
class LogitsCheck {
 public:
  // `rows`, with every block looked at when it is read.  This object must outlive the result.
  RowSource Watch(const RowSource& rows);

  // Of the rows read so far.
  double accuracy() const;
  // Warns where the logits look like probabilities, or the base is about as good as chance.
  void Warn(Console& console) const;

 private:
  void Look(const Rows& block);

  int64_t rows_ = 0, correct_ = 0, classes_ = 0;
  bool all_probabilities_ = true;
};

}  // namespace resmem::cli

#endif  // RESMEM_CLI_INPUTS_LOGITS_CHECK_H_
