// ScanBlocks() for processors whose byte products Highway 1.0.3 does not know: AVX-512 VNNI, and
// tiles where they multiply bytes.
#ifndef RESMEM_SEARCH_APPROXIMATE_CODES_LIST_SCAN_KERNEL_X86_H_
#define RESMEM_SEARCH_APPROXIMATE_CODES_LIST_SCAN_KERNEL_X86_H_

#include "search/approximate/codes/list_scan_kernel.h"

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

#endif  // RESMEM_SEARCH_APPROXIMATE_CODES_LIST_SCAN_KERNEL_X86_H_
