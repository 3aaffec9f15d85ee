// Without libnats.
#include "edits/edit_log.h"

namespace resmem::serve {

Result<std::unique_ptr<EditLog>> EditLog::Open(const std::vector<std::string>&, const std::string&,
                                               std::function<void()>) {
  return Status(ErrorCode::kUnsupported,
                "--edits: this resmem-serve was built without libnats; install it (Debian: "
                "libnats-dev) and build with -DRESMEM_BUILD_EDIT_STREAM=ON");
}

}  // namespace resmem::serve
