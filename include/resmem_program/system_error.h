// What the system says, as a code.
#ifndef RESMEM_PROGRAM_SYSTEM_ERROR_H_
#define RESMEM_PROGRAM_SYSTEM_ERROR_H_

#include "resmem/status.h"

namespace resmem {

// Of an errno: kResourceExhausted where space, memory, descriptors or processes are used up, else
// kIo.
ErrorCode CodeOfSystemError(int error);

}  // namespace resmem

#endif  // RESMEM_PROGRAM_SYSTEM_ERROR_H_
