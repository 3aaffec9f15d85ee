// Which model made a memory's arrays, so that another model's are refused.
#ifndef RESMEM_FINGERPRINT_H_
#define RESMEM_FINGERPRINT_H_

#include <string>

#include "resmem/status.h"

namespace resmem {

// Empty: unknown, nothing is checked.
struct Fingerprint {
  std::string digest;  // 32 hex digits of the model file, or the user's own name for the model
  std::string layer;   // name of the embedding layer
  bool empty() const { return digest.empty() && layer.empty(); }
  bool operator==(const Fingerprint&) const = default;
};
// XXH3-128 of the file's bytes.
Result<std::string> DigestFile(const std::string& path);

}  // namespace resmem

#endif  // RESMEM_FINGERPRINT_H_
