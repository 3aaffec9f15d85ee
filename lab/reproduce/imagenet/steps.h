// The steps of `resmem reproduce imagenet`, two for each network, and its page.
#ifndef RESMEM_LAB_REPRODUCE_IMAGENET_STEPS_H_
#define RESMEM_LAB_REPRODUCE_IMAGENET_STEPS_H_

#include "reproduce/imagenet/workspace.h"
#include "reproduce/page/page.h"
#include "reproduce/step.h"

namespace resmem::cli::reproduce::imagenet {

// `workspace` must outlive them.
std::vector<Step> ListSteps(Workspace& workspace);

void WritePage(const Workspace& workspace, std::span<const Step> steps, Page* page);

}  // namespace resmem::cli::reproduce::imagenet

#endif  // RESMEM_LAB_REPRODUCE_IMAGENET_STEPS_H_
