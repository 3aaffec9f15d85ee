// Where ONNX Runtime may lie.
#ifndef RESMEM_ONNX_RUNTIME_RUNTIME_PLACES_H_
#define RESMEM_ONNX_RUNTIME_RUNTIME_PLACES_H_

#include <string>
#include <vector>

#include "resmem/status.h"

namespace resmem {

inline constexpr char kRuntimeVariable[] = "RESMEM_ONNXRUNTIME";
// The version that ./setup installs, in the folder of that name.
inline constexpr char kPinnedRuntime[] = "1.30.0";

// The folders tried when neither the user nor the variable names a file, in this order: the
// program's own and lib/ beside it, the cache where ./setup puts the library, the system's.
std::vector<std::string> RuntimeFolders();

// The file to load.  A place that the user names is the only one tried.
// kNotFound, with how to get it.
Result<std::string> FindRuntime(const std::string& library);

}  // namespace resmem

#endif  // RESMEM_ONNX_RUNTIME_RUNTIME_PLACES_H_
