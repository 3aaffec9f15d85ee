// The rivals in the trace of tuning, a note of the manifest.
#ifndef RESMEM_MEMORY_MANIFEST_RIVALS_H_
#define RESMEM_MEMORY_MANIFEST_RIVALS_H_

#include "format/json_fields.h"
#include "resmem/rivals.h"

namespace resmem {

inline constexpr char kTuningNote[] = "tuning", kRivalsField[] = "rivals";

SortedJson RivalsToJson(const Rivals& rivals);

}  // namespace resmem

#endif  // RESMEM_MEMORY_MANIFEST_RIVALS_H_
