// Where ONNX Runtime may lie.
#ifndef RESMEM_ONNX_RUNTIME_RUNTIME_PLACES_H_
#define RESMEM_ONNX_RUNTIME_RUNTIME_PLACES_H_

#include <string>
#include <utility>
#include <vector>

#include "resmem/status.h"

namespace resmem {

inline constexpr char kRuntimeVariable[] = "RESMEM_ONNXRUNTIME";
// The version that "resmem runtime install" and ./setup install (cli/runtime/resmem-get-runtime).
inline constexpr char kPinnedRuntime[] = "1.30.0";
// SHA-256 of its library for this processor, out of the npm package whose sha512 ./setup checks;
// "" where there is none.
#if defined(__x86_64__)
inline constexpr char kPinnedDigest[] =
    "ffb75a925ba05e47b235bb66e3e3911714a80b328a9c9425539feb204aa32a23";
#elif defined(__aarch64__)
inline constexpr char kPinnedDigest[] =
    "1f549d46250b005580b597f4164984aaf75b3bcb9f3aeb07c7f8a8fe60b23c76";
#else
inline constexpr char kPinnedDigest[] = "";
#endif

// Where it is installed for all, and for this user: "" without a home.
inline constexpr char kSystemRuntimeFolder[] = "/usr/lib/resmem";
std::string CacheFolder();

// The folders tried when neither the user nor the variable names a file, in this order: the
// program's own and lib/ beside it, the system's for resmem, the user's cache, the system's.
std::vector<std::string> RuntimeFolders();

struct FoundRuntime {
  std::string path;
  bool named = false;   // by the user, who answers for it
  bool pinned = false;  // found where it is installed, so it must be what that installs
};

// A place that the user names is the only one tried.  kNotFound, with how to get it.
Result<FoundRuntime> FindRuntime(const std::string& library);

// Loading a library runs its code.  One that was found and not named must be root's or the user's
// own and closed to others, with its folder: else kUnsupported; a pinned one must have the digest:
// else kCorrupt.  It is held open from the check to the loading: a file that takes its place in
// between is not what is loaded.
class CheckedRuntime {
 public:
  static Result<CheckedRuntime> Open(const FoundRuntime& found);
  CheckedRuntime(CheckedRuntime&& other) noexcept;
  CheckedRuntime& operator=(CheckedRuntime&&) = delete;
  ~CheckedRuntime();

  const std::string& name() const { return name_; }  // for dlopen(), as long as this lives

 private:
  CheckedRuntime(int descriptor, std::string name)
      : descriptor_(descriptor), name_(std::move(name)) {}
  int descriptor_;  // -1: none
  std::string name_;
};

}  // namespace resmem

#endif  // RESMEM_ONNX_RUNTIME_RUNTIME_PLACES_H_
