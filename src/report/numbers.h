// Numbers as people read them: 12,345; 86.22 %; +2.11.
#ifndef RESMEM_REPORT_NUMBERS_H_
#define RESMEM_REPORT_NUMBERS_H_

#include <cstdint>
#include <string>

namespace resmem {

std::string Grouped(int64_t count);                   // 12,345
std::string Fixed(double value, int decimals);        // 0.500, with a real minus sign
std::string Signed(double value, int decimals);       // +0.50
std::string Percent(double share, int decimals = 2);  // 86.22 %
std::string Points(double share);                     // +2.11, in percentage points
std::string Short(double value);                      // four significant digits
std::string PValue(double p);                         // 0.034, or < 0.0001
std::string Bytes(int64_t bytes);                     // 31.4 MB
std::string Duration(double seconds);                 // 3 min 20 s

// For attributes of SVG: at most two decimals, a plain minus sign.
std::string Coordinate(double value);

}  // namespace resmem

#endif  // RESMEM_REPORT_NUMBERS_H_
