// A base model on disk: a container of kind 4, docs/memory_format.md section 7.
#ifndef RESMEM_LAB_BASE_MODEL_MODEL_FILE_H_
#define RESMEM_LAB_BASE_MODEL_MODEL_FILE_H_

#include <string>

#include "base_model/network.h"
#include "resmem/status.h"

namespace resmem {

// Atomic.  The same network gives the same bytes.
Status SaveNetwork(const Network& network, const std::string& path);

// Errors: kNotFound, kCorrupt, kTooNew, kIo.
Result<Network> LoadNetwork(const std::string& path);

}  // namespace resmem

#endif  // RESMEM_LAB_BASE_MODEL_MODEL_FILE_H_
