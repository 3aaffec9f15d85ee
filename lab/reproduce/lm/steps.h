// Every step, in an order in which each comes after those that it needs.
#ifndef RESMEM_LAB_REPRODUCE_LM_STEPS_H_
#define RESMEM_LAB_REPRODUCE_LM_STEPS_H_

#include <vector>

#include "reproduce/lm/workspace.h"
#include "reproduce/step.h"

namespace resmem::cli::reproduce::lm {

// The steps work in the workspace, which must outlive them.
std::vector<Step> ListSteps(Workspace& workspace);

}  // namespace resmem::cli::reproduce::lm

#endif  // RESMEM_LAB_REPRODUCE_LM_STEPS_H_
