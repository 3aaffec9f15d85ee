// Fits a blend on held-out rows and decides by cross-validation whether it becomes the answer.
#ifndef RESMEM_TUNE_BLEND_BLEND_TUNING_H_
#define RESMEM_TUNE_BLEND_BLEND_TUNING_H_

#include <cstdint>
#include <vector>

#include "tune/validation_rows.h"

namespace resmem {

// A blend as it was fitted, and what cross-validation saw of each row of its sample.
struct BlendTrial {
  BlendTuning tuning;  // without blend: nothing was fitted
  bool regression = false;
  // Of each row: NLL or squared error, whether the answer was right, and the fold that it is in.
  std::vector<double> base_losses, scaled_losses, losses;
  std::vector<bool> base_right, right;
  std::vector<int64_t> folds;
  std::vector<int32_t> slices;  // see ValidationBlock
  // Mean loss of all rows, and of all without each fold, each half judged by a fit on the other.
  std::vector<double> inner_losses;
};

// `folds`: how many the rows have.  Errors: kCancelled.
Result<BlendTrial> TuneBlend(const ResidualMemory& memory, const ValidationRows& rows,
                             const TuneOptions& options, int64_t folds);

// Sets the figures of trial->tuning, and whether cross-validation supports the blend.
void DecideBlend(const TuneOptions& options, BlendTrial* trial);

}  // namespace resmem

#endif  // RESMEM_TUNE_BLEND_BLEND_TUNING_H_
