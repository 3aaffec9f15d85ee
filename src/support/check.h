// For our own mistakes only; a user's mistake is a Status.  Off in release builds.
#ifndef RESMEM_SUPPORT_CHECK_H_
#define RESMEM_SUPPORT_CHECK_H_

#include <cassert>

#define RESMEM_DCHECK(condition) assert(condition)

#endif  // RESMEM_SUPPORT_CHECK_H_
