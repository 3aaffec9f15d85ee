// Whether a graph does what a base model must: tried out on rows of noise.
#ifndef RESMEM_ONNX_TRIAL_RUN_H_
#define RESMEM_ONNX_TRIAL_RUN_H_

#include <cstdint>

#include "onnx/runtime/session.h"
#include "resmem/models/onnx_model.h"

namespace resmem {

// Runs two rows (`fixed` where the graph takes only so many) and sets the manifest's dim and
// classes to what came out.  Then the same rows in reverse order, which must give the same answers:
// a graph exported for training normalizes by the batch or drops values at random.
// Errors: kUnsupported.
Status TrialRun(const Session& session, int64_t fixed, ModelManifest* manifest);

}  // namespace resmem

#endif  // RESMEM_ONNX_TRIAL_RUN_H_
