// Some rows of many, each as likely as the others.
#ifndef RESMEM_SUPPORT_CHOOSE_ROWS_H_
#define RESMEM_SUPPORT_CHOOSE_ROWS_H_

#include <cstdint>
#include <vector>

#include "support/random.h"

namespace resmem {

// `wanted` of 0 .. rows - 1, or all where there are no more: ascending, none twice, the same for
// the same seed.
inline std::vector<int64_t> ChooseRows(int64_t rows, int64_t wanted, uint64_t seed) {
  std::vector<int64_t> chosen;
  Random random(seed);
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t missing = wanted - static_cast<int64_t>(chosen.size());
    if (random.Below(static_cast<uint64_t>(rows - row)) < static_cast<uint64_t>(missing)) {
      chosen.push_back(row);
    }
  }
  return chosen;
}

}  // namespace resmem

#endif  // RESMEM_SUPPORT_CHOOSE_ROWS_H_
