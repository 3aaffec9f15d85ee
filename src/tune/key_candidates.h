// The neighbors that rows would have if a memory's keys were transformed in another way.
#ifndef RESMEM_TUNE_KEY_CANDIDATES_H_
#define RESMEM_TUNE_KEY_CANDIDATES_H_

#include <vector>

#include "tune/validation_rows.h"

namespace resmem {

// Of each block of `rows`, which keep their keys; those that an exact search would find in the
// memory after UpdateDescription() with this transform, bit for bit.  Keys are computed in pieces
// of options.memory_limit / 2. Errors: those of WhitenKeys(), kCancelled.
Result<std::vector<Neighbors>> FindTransformedNeighbors(const ResidualMemory& memory,
                                                        KeyTransform transform,
                                                        const ValidationRows& rows,
                                                        const TuneOptions& options);

}  // namespace resmem

#endif  // RESMEM_TUNE_KEY_CANDIDATES_H_
