// Who may do what: bearer keys from a file.
//
//   # name   role      key
//   kiosk    answer    8d11...            any text of 16 characters or more, without blanks
//   phone    predict   4f0c...
//   labels   teach     sha256:9b74c9...   its SHA-256 in hexadecimal, so that the file tells
//   nothing
//
// Each role includes those before it: answer (probabilities, nothing of any row), predict, teach,
// admin.
#ifndef RESMEM_SERVER_OPERATION_KEYS_H_
#define RESMEM_SERVER_OPERATION_KEYS_H_

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "resmem/status.h"

namespace resmem::serve {

enum class Permission { kNone, kAnswer, kPredict, kTeach, kAdmin };
const char* PermissionName(Permission permission);  // "predict"

struct KeyOwner {
  std::string name;
  Permission permission = Permission::kNone;
};

class Keys {
 public:
  // Errors: kNotFound, kIo, kBadData with the line; also where everybody may read the file.
  static Result<Keys> Read(const std::string& path);
  static Result<Keys> Parse(std::string_view text, const std::string& path);

  // The owner of "Bearer KEY"; none where it is no key of ours.  Takes the same time for any key of
  // a length: every digest is compared to its end.
  std::optional<KeyOwner> Find(std::string_view authorization) const;
  size_t size() const { return entries_.size(); }

 private:
  using Digest = std::array<unsigned char, 32>;
  struct Entry {
    KeyOwner owner;
    Digest digest;
  };
  static Digest DigestOf(std::string_view key);
  static Status ReadDigest(std::string_view text, Digest* digest);
  std::vector<Entry> entries_;
};

}  // namespace resmem::serve

#endif  // RESMEM_SERVER_OPERATION_KEYS_H_
