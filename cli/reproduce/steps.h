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

// Runs a step and keeps its result.  kMismatch where another one must be run before.
Status RunStep(const Step& step, Workspace& workspace, StepRecords* records);

}  // namespace resmem::cli::reproduce

#endif  // RESMEM_CLI_REPRODUCE_STEPS_H_
