// The matrix that whitens keys within classes: docs/predictor.md, "Keys".
#ifndef RESMEM_MEMORY_KEYS_WHITENING_H_
#define RESMEM_MEMORY_KEYS_WHITENING_H_

#include "memory/keys/key_transformer.h"
#include "memory/rows/stored_rows.h"

namespace resmem {

// With L L^T the covariance of the keys as given, around the mean of their class (regression: of
// all), shrunk by a tenth towards its mean diagonal: whitened key = key x (L^-1)^T, as
// KeyTransformer takes it.  Of 262,144 rows, evenly spread, where there are more.  The same bits
// for any thread count. Errors: kInvalidArgument (no rows), kUnsupported (no spread, a spread
// beyond float32, more than 4,096 dimensions), kCancelled.
Result<KeyTransformer> WhitenKeys(const StoredRows& rows, int threads, Progress* progress);

// The transformer of this kind for these rows.
Result<KeyTransformer> MakeTransformer(const StoredRows& rows, KeyTransform kind, int threads,
                                       Progress* progress);

}  // namespace resmem

#endif  // RESMEM_MEMORY_KEYS_WHITENING_H_
