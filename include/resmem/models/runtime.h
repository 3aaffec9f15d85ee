// ONNX Runtime, the shared library that runs models: which one is used, and why.
#ifndef RESMEM_MODELS_RUNTIME_H_
#define RESMEM_MODELS_RUNTIME_H_

#include <string>
#include <vector>

#include "resmem/status.h"

namespace resmem {

struct RuntimePlace {
  std::string path;
  std::string finding;  // "used", "not there", or why it is not used
};

struct RuntimeUse {
  std::string path;                  // "" where none can be used
  std::string version;               // of the library itself: "1.30.0"
  std::string reason;                // why this one; without a path, what is wrong and what to do
  ErrorCode error = ErrorCode::kOk;  // without a path: of what is wrong
  std::vector<RuntimePlace> places;  // all that are tried, in their order
};

// What a model would run in.  `library`: as --onnxruntime names it, or "".
RuntimeUse DescribeRuntime(const std::string& library = "");

// What "resmem runtime install" installs, and where: for one user ("" for a user without a home),
// for all.
std::string PinnedRuntimeVersion();
std::string UserRuntimeFolder();
std::string SystemRuntimeFolder();

}  // namespace resmem

#endif  // RESMEM_MODELS_RUNTIME_H_
