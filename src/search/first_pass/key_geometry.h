// What is computed once of the keys for fast search: a center, and each key's distance from it.
#ifndef RESMEM_SEARCH_FIRST_PASS_KEY_GEOMETRY_H_
#define RESMEM_SEARCH_FIRST_PASS_KEY_GEOMETRY_H_

#include <cstdint>
#include <vector>

#include "resmem/status.h"
#include "search/key_store.h"

namespace resmem {

struct KeyGeometry {
  // Near the mean of the keys.  Any point would give the same answers; this one keeps the norms,
  // and with them the error bound, small.
  std::vector<float> center;
  // half_norms[row] = |key - center|^2 / 2, rounded to float; infinite for hidden rows, which are
  // therefore below no threshold.
  std::vector<float> half_norms;
  // The largest |key - center| of the visible rows.
  double largest_norm = 0;

  // Reads every key once.  Errors: kBadData where one is not finite, kResourceExhausted.
  static Result<KeyGeometry> Compute(const KeyStore& keys);
};

}  // namespace resmem

#endif  // RESMEM_SEARCH_FIRST_PASS_KEY_GEOMETRY_H_
