// Every step, in an order in which each comes after those that it needs.
#ifndef RESMEM_CLI_REPRODUCE_STEPS_H_
#define RESMEM_CLI_REPRODUCE_STEPS_H_

#include <span>
#include <string>
#include <vector>

#include "reproduce/step.h"
#include "reproduce/step_records.h"
#include "reproduce/workspace.h"

namespace resmem::cli::reproduce {

std::vector<Step> ListSteps(const Workspace& workspace);

// Those of `names`, in the steps' order; "NAME..." stands for all that begin so, "all" for every
// one; nothing: those that run by default.  kInvalidArgument for a name that is not there.
Result<std::vector<const Step*>> SelectSteps(std::span<const Step> steps,
                                             const std::vector<std::string>& names);

// Runs a step and keeps its result.  kMismatch where another one must be run before.
Status RunStep(const Step& step, Workspace& workspace, StepRecords* records);

}  // namespace resmem::cli::reproduce

#endif  // RESMEM_CLI_REPRODUCE_STEPS_H_
