// Nothing is thrown across the library's border.
#ifndef RESMEM_DATA_MEMORY_GUARD_H_
#define RESMEM_DATA_MEMORY_GUARD_H_

#include <new>
#include <string>

#include "resmem/status.h"
#include "support/guard.h"
#include "support/text.h"

namespace resmem {

// work(), or the error that an exception means; kResourceExhausted where memory ran out.
template <typename Work>
auto GuardMemory(const std::string& name, Work work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return Status(ErrorCode::kResourceExhausted,
                  Text(name,
                       ": not enough memory to read it; read fewer rows at a time, or store it "
                       "uncompressed as .npy, which is mapped"));
  } catch (...) {
    return CaughtException(Text("read ", name));
  }
}

}  // namespace resmem

#endif  // RESMEM_DATA_MEMORY_GUARD_H_
