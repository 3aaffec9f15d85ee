// The ROC curve of members against held-out rows, with DeLong's intervals.
#ifndef RESMEM_EVAL_PRIVACY_SEPARATION_H_
#define RESMEM_EVAL_PRIVACY_SEPARATION_H_

#include <span>
#include <vector>

#include "resmem/privacy.h"

namespace resmem {

// One clue's ranks.  DeLong, DeLong and Clarke-Pearson (Biometrics 44, 1988, 837-845): the AUC is a
// mean over members of the share of held-out rows below, and over held-out rows of the share of
// members above; the variances of the two means add up.
class Ranking {
 public:
  // Neither may be empty; values are finite.
  Ranking(std::span<const double> members, std::span<const double> held_out);

  Separation separation() const;
  double auc() const { return auc_; }
  // Of auc() less other.auc(): paired, as both rank the same rows.
  Interval DifferenceInterval(const Ranking& other) const;

 private:
  // Of each member and of each held-out row, see above.
  std::vector<double> below_, above_;
  double auc_ = 0.5;
  double tpr_at_1_percent_ = 0, tpr_at_0_1_percent_ = 0;
};

}  // namespace resmem

#endif  // RESMEM_EVAL_PRIVACY_SEPARATION_H_
