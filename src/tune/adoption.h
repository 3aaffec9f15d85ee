// What tuning makes of a memory: nothing is adopted that cross-validation does not support.
#ifndef RESMEM_TUNE_ADOPTION_H_
#define RESMEM_TUNE_ADOPTION_H_

#include <optional>
#include <vector>

#include "tune/validation_rows.h"

namespace resmem {

// The base was trained on the rows: it is better there than it will ever be again.
bool AreTrainedOn(const ResidualMemory& memory, const TuneOptions& options);

// Of each fold, judged by the others' choice: rows fixed less rows harmed, or what ResMem takes off
// the squared error; divided by the fold's rows.
using FoldGains = std::vector<double>;

// Sets tuning->resmem_reason and tuning->answer; the choice, its figures and the blend are set
// already.  Adds a warning where ResMem was asked for and is not supported, or was not tested.
void DecideAnswer(const ResidualMemory& memory, const ValidationRows& rows,
                  const TuneOptions& options, const FoldGains& gains, Tuning* tuning);

}  // namespace resmem

#endif  // RESMEM_TUNE_ADOPTION_H_
