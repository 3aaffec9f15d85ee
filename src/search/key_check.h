// Keys that are checked when they are first read.
#ifndef RESMEM_SEARCH_KEY_CHECK_H_
#define RESMEM_SEARCH_KEY_CHECK_H_

#include <cstdint>

namespace resmem {

// Of one KeyBlock, whose keys and scales lie in a file that may be damaged.  Any number of threads
// may call.
class KeyCheck {
 public:
  virtual ~KeyCheck() = default;
  // Before rows [begin, begin + count) of the block are read.  Throws StatusError where their bytes
  // are not what was written.
  virtual void RequireKeys(int64_t begin, int64_t count) const = 0;
};

}  // namespace resmem

#endif  // RESMEM_SEARCH_KEY_CHECK_H_
