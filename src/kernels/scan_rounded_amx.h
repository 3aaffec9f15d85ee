// kernels/scan_rounded.h by tiles.  Requires AmxAvailable().
#ifndef RESMEM_KERNELS_SCAN_ROUNDED_AMX_H_
#define RESMEM_KERNELS_SCAN_ROUNDED_AMX_H_

#include <cstdint>

#include "kernels/scan_rounded.h"

namespace resmem {

void PackRoundedKeysAmx(const float* keys, int64_t count, int64_t dim, const float* center,
                        uint16_t* block, RoundedNorms* norms);
int64_t ScanRoundedAmx(const RoundedGroup& queries, const RoundedBlocks& keys, int64_t dim,
                       CellBelow* out);
void SmallestRoundedAmx(const RoundedGroup& queries, const RoundedBlocks& keys, int64_t dim,
                        int64_t rank, float* smallest);

}  // namespace resmem

#endif  // RESMEM_KERNELS_SCAN_ROUNDED_AMX_H_
