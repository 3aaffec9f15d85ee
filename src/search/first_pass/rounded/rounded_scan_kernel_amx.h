// rounded_scan_kernel.h by tiles.  Requires AmxAvailable().
#ifndef RESMEM_SEARCH_FIRST_PASS_ROUNDED_ROUNDED_SCAN_KERNEL_AMX_H_
#define RESMEM_SEARCH_FIRST_PASS_ROUNDED_ROUNDED_SCAN_KERNEL_AMX_H_

#include <cstdint>

#include "search/first_pass/rounded/rounded_scan_kernel.h"

namespace resmem {

void PackRoundedKeysAmx(const float* keys, int64_t count, int64_t dim, const float* center,
                        uint16_t* block, RoundedNorms* norms);
int64_t ScanRoundedAmx(const RoundedGroup& queries, const RoundedBlocks& keys, int64_t dim,
                       CellBelow* out);
void SmallestRoundedAmx(const RoundedGroup& queries, const RoundedBlocks& keys, int64_t dim,
                        int64_t rank, float* smallest);

}  // namespace resmem

#endif  // RESMEM_SEARCH_FIRST_PASS_ROUNDED_ROUNDED_SCAN_KERNEL_AMX_H_
