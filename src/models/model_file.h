// A base model on disk: a container of kind 4, docs/memory_format.md section 7.
#ifndef RESMEM_MODELS_MODEL_FILE_H_
#define RESMEM_MODELS_MODEL_FILE_H_

#include <string>

#include "models/network.h"
#include "resmem/status.h"

namespace resmem {

// Atomic.  The same network gives the same bytes.
Status SaveNetwork(const Network& network, const std::string& path);

// Errors: kNotFound, kCorrupt, kTooNew, kIo.
Result<Network> LoadNetwork(const std::string& path);

}  // namespace resmem

#endif  // RESMEM_MODELS_MODEL_FILE_H_
