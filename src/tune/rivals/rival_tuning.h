// The rivals of a memory's answer, tuned on the same rows by the same objective.
#ifndef RESMEM_TUNE_RIVALS_RIVAL_TUNING_H_
#define RESMEM_TUNE_RIVALS_RIVAL_TUNING_H_

#include "tune/validation_rows.h"

namespace resmem {

// `grid`: filled.  Classification.  Sets tuning->rivals and rival_tunings; neither
// where there are fewer rows than are needed to fit anything.
Status TuneRivals(const ResidualMemory& memory, const ValidationRows& rows, const Grid& grid,
                  const TuneOptions& options, Tuning* tuning);

}  // namespace resmem

#endif  // RESMEM_TUNE_RIVALS_RIVAL_TUNING_H_
