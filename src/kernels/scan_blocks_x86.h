// ScanBlocks() for processors whose byte products Highway 1.0.3 does not know: AVX-512 VNNI, and
// tiles where they multiply bytes.
#ifndef RESMEM_KERNELS_SCAN_BLOCKS_X86_H_
#define RESMEM_KERNELS_SCAN_BLOCKS_X86_H_

#include "kernels/scan_blocks.h"

namespace resmem {

// Whether this processor has VNNI, and whether its tiles multiply bytes.
bool VnniAvailable();
bool ByteTilesAvailable();

int64_t ScanBlocksByVnni(const QueryGroup& group, const CodeBlocks& blocks, int64_t rows,
                         int64_t width, CellFound* out);
// The calling thread must be in a TileScope.
int64_t ScanBlocksByTiles(const QueryGroup& group, const CodeBlocks& blocks, int64_t rows,
                          int64_t width, CellFound* out);

}  // namespace resmem

#endif  // RESMEM_KERNELS_SCAN_BLOCKS_X86_H_
