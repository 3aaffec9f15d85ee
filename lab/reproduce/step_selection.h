#ifndef RESMEM_LAB_REPRODUCE_STEP_SELECTION_H_
#define RESMEM_LAB_REPRODUCE_STEP_SELECTION_H_

#include <span>
#include <string>
#include <vector>

#include "reproduce/step.h"

namespace resmem::cli::reproduce {

// Those of `names`, in the steps' order; "NAME..." stands for all that begin so, "all" for every
// one; nothing: those that run by default.  kInvalidArgument for a name that is not there.
Result<std::vector<const Step*>> SelectSteps(std::span<const Step> steps,
                                             const std::vector<std::string>& names);

}  // namespace resmem::cli::reproduce

#endif  // RESMEM_LAB_REPRODUCE_STEP_SELECTION_H_
