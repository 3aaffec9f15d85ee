// Thumbnails as PNG, by libpng: 8 bits a sample, gray or RGB.  report.h has EncodePng().
#ifndef RESMEM_REPORT_PNG_H_
#define RESMEM_REPORT_PNG_H_

#include <cstdint>
#include <span>
#include <vector>

#include "resmem/report/report.h"

namespace resmem {

// Whether libpng reads the bytes' beginning as a PNG of these sides.
bool IsPng(std::span<const uint8_t> bytes, int64_t height, int64_t width);

}  // namespace resmem

#endif  // RESMEM_REPORT_PNG_H_
