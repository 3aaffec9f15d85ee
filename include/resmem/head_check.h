// Do these arrays come from the memory's model?  If the key is the layer before the logits, the
// logits are an affine function of the key: logits = W key + b.  The memory's own rows determine
// that function, and arrays of another model do not follow it.  This finds a swapped model without
// any fingerprint, and files whose rows are not in the same order.
#ifndef RESMEM_HEAD_CHECK_H_
#define RESMEM_HEAD_CHECK_H_

#include "resmem/residual_memory.h"

namespace resmem {

struct HeadCheck {
  // The memory shows an affine head: it keeps logits, they are not out-of-fold, it has more than
  // twice as many rows as dimensions, at most 512 of these, and its held-out rows follow the fit.
  bool applicable = false;
  // Root mean square error of the fitted head over the spread of the logits: near 0 for the same
  // model, about 1 or more for another.
  double memory_error = 1, query_error = 1;

  bool another_model() const { return applicable && query_error > 0.5; }
};

// Looks at up to 256 of the query rows.  About 0.1 s at 256 dimensions.
HeadCheck CheckHead(const ResidualMemory& memory, MatrixView keys, MatrixView logits);

}  // namespace resmem

#endif  // RESMEM_HEAD_CHECK_H_
