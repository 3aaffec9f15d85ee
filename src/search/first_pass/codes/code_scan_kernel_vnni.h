// ScanCodes() by the instruction that multiplies bytes (AVX512-VNNI).
#ifndef RESMEM_SEARCH_FIRST_PASS_CODES_CODE_SCAN_KERNEL_VNNI_H_
#define RESMEM_SEARCH_FIRST_PASS_CODES_CODE_SCAN_KERNEL_VNNI_H_

#include <cstdint>

#include "search/first_pass/codes/code_scan_kernel.h"

namespace resmem {

// Whether the processor has it and a query of `dim` codes suits.
bool VnniApplies(int64_t dim);

// As ScanCodes().  Requires VnniApplies(dim).
int64_t ScanCodesVnni(const CodedQuery& query, const CodedRows& rows, int64_t count, int64_t dim,
                      float reach, RowBelow* out);

}  // namespace resmem

#endif  // RESMEM_SEARCH_FIRST_PASS_CODES_CODE_SCAN_KERNEL_VNNI_H_
