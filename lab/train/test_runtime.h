// Whether a test may be skipped because ./setup could not install ONNX Runtime: never in CI.
#ifndef RESMEM_LAB_TRAIN_TEST_RUNTIME_H_
#define RESMEM_LAB_TRAIN_TEST_RUNTIME_H_

#include <cstdlib>

#include "resmem/status.h"

namespace resmem::train {

// `opened`: of OnnxModel::Open() on files that are there, so that only the runtime can be missing.
inline bool MaySkip(const Status& opened) {
  return opened.code() == ErrorCode::kNotFound && std::getenv("CI") == nullptr;
}

}  // namespace resmem::train

#endif  // RESMEM_LAB_TRAIN_TEST_RUNTIME_H_
