// Fits a blend on held-out rows and decides by cross-validation whether it becomes the answer.
#ifndef RESMEM_TUNE_BLEND_TUNING_H_
#define RESMEM_TUNE_BLEND_TUNING_H_

#include "tune/validation_rows.h"

namespace resmem {

// `folds`: how many the rows have.  Errors: kCancelled.
Result<BlendTuning> TuneBlend(const ResidualMemory& memory, const ValidationRows& rows,
                              const TuneOptions& options, int64_t folds, int64_t largest_k);

}  // namespace resmem

#endif  // RESMEM_TUNE_BLEND_TUNING_H_
