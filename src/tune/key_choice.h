// Which key transform suits a memory: the blend is tuned for each, and cross-validation decides.
#ifndef RESMEM_TUNE_KEY_CHOICE_H_
#define RESMEM_TUNE_KEY_CHOICE_H_

#include <optional>
#include <string>
#include <vector>

#include "tune/blend/blend_tuning.h"

namespace resmem {

struct ChosenKeys {
  KeyTuning keys;
  std::optional<BlendTuning> blend;  // of these keys; none where there is nothing to choose by
};

// TuneOptions::key_transforms of a memory: what they are where none were given.
std::vector<KeyTransform> KeyCandidates(const ResidualMemory& memory, const TuneOptions& options);

// Leaves `rows` with the neighbors of the keys that were chosen.  A single candidate is taken as it
// is.  `why_not`: why no blend can be cross-validated on these rows, so that of several the
// memory's own is kept; empty: it can.
Result<ChosenKeys> ChooseKeys(const ResidualMemory& memory, const TuneOptions& options,
                              const std::string& why_not, ValidationRows* rows);

}  // namespace resmem

#endif  // RESMEM_TUNE_KEY_CHOICE_H_
