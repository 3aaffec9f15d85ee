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
// XXH3-128 of its library for x86-64.
inline constexpr char kPinnedDigest[] = "3b8ef0386c3883b65fea23c689b56295";

// The folders tried when neither the user nor the variable names a file, in this order: the
// program's own and lib/ beside it, the cache where ./setup puts the library, the system's.
std::vector<std::string> RuntimeFolders();

// The file to load.  A place that the user names is the only one tried.
// One that is found must be root's or the user's own, and closed to others, with its folder: else
// kUnsupported; in the cache it must be the pinned one: else kCorrupt.  kNotFound, with how to get
// it.
Result<std::string> FindRuntime(const std::string& library);

}  // namespace resmem

#endif  // RESMEM_ONNX_RUNTIME_RUNTIME_PLACES_H_
