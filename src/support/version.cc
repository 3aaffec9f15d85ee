#include "resmem/version.h"

#include "support/text.h"

namespace resmem {

std::string Version() {
  return RESMEM_VERSION;
}

std::string BuildDescription() {
#ifdef NDEBUG
  const char* kind = "release";
#else
  const char* kind = "debug";
#endif
  return Text("g++ ", __VERSION__, ", ", kind);
}

}  // namespace resmem
