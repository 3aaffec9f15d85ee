// Numbers as people read them.
#ifndef RESMEM_CLI_CONSOLE_FORMAT_H_
#define RESMEM_CLI_CONSOLE_FORMAT_H_

#include <cstdint>
#include <string>

namespace resmem::cli {

std::string ShortNumber(double value);                 // "0.7": the fewest digits, at most 6
std::string Fixed(double value, int decimals);         // "0.700"
std::string Scientific(double value);                  // "-1.2e-08"
std::string Percent(double share);                     // "59.66 %"
std::string SignedPoints(double share);                // "+3.20": percentage points
std::string Count(int64_t value);                      // "50,000"
std::string Counted(int64_t value, const char* noun);  // "1 row", "50,000 rows"
std::string Bytes(int64_t value);                      // "12.8 MB"
std::string Duration(double seconds);                  // "850 ms", "12 s", "3 min 20 s"
std::string PValue(double p);                          // "0.031", "< 1e-6"

}  // namespace resmem::cli

#endif  // RESMEM_CLI_CONSOLE_FORMAT_H_
