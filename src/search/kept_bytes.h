// Room for what searches derive from the keys and keep: codes, and keys rounded for tiles.
#ifndef RESMEM_SEARCH_KEPT_BYTES_H_
#define RESMEM_SEARCH_KEPT_BYTES_H_

#include <cstdint>
#include <optional>
#include <utility>

namespace resmem {

// A part of the room, given back when it is destroyed.  All indexes of the process share an eighth
// of its memory, whichever asks first: without a part, a search reads the keys themselves, and
// answers the same.
class KeptBytes {
 public:
  static int64_t Room();

  // Nothing where that much is not left.
  static std::optional<KeptBytes> Take(int64_t bytes);

  KeptBytes(KeptBytes&& other) noexcept : bytes_(other.bytes_) { other.bytes_ = 0; }
  KeptBytes& operator=(KeptBytes&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~KeptBytes();

 private:
  explicit KeptBytes(int64_t bytes) : bytes_(bytes) {}

  int64_t bytes_;
};

}  // namespace resmem

#endif  // RESMEM_SEARCH_KEPT_BYTES_H_
