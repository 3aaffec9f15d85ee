// Whether a graph does what a causal language model must: tried out on a few tokens.
#ifndef RESMEM_ONNX_TOKEN_TRIAL_H_
#define RESMEM_ONNX_TOKEN_TRIAL_H_

#include "onnx/runtime/session.h"
#include "onnx/runtime/token_inputs.h"
#include "resmem/models/onnx_model.h"

namespace resmem {

// Sets the manifest's dim and classes to what came out, and its context, where that is 0, to 512 or
// the largest half of it that runs.  Then the answer to a token must not change with those behind
// it, and not with whether the model keeps what it computed of those before it.
// Errors: kUnsupported.
Status TokenTrial(const Session& session, const TokenInputs& inputs, ModelManifest* manifest);

}  // namespace resmem

#endif  // RESMEM_ONNX_TOKEN_TRIAL_H_
