// Readable numbers as a page sets them: a real minus sign, and a narrow space before a unit that no
// line breaks at.  The digits are those of resmem_program/readable.h.
#ifndef RESMEM_REPORT_NUMBERS_H_
#define RESMEM_REPORT_NUMBERS_H_

#include <cstdint>
#include <string>

#include "resmem_program/readable.h"

namespace resmem {

// "-1.5 s" with U+2212 and U+202F; a number in any other text is left as it stands.
std::string Typeset(std::string number);

inline std::string Grouped(int64_t count) {
  return Typeset(readable::Count(count));
}
inline std::string Fixed(double value, int decimals) {
  return Typeset(readable::Fixed(value, decimals));
}
inline std::string Signed(double value, int decimals) {
  return Typeset(readable::Signed(value, decimals));
}
inline std::string Percent(double share, int decimals = 2) {
  return Typeset(readable::Percent(share, decimals));
}
inline std::string Points(double share) {
  return Typeset(readable::SignedPoints(share));
}
inline std::string Short(double value) {
  return Typeset(readable::ShortNumber(value, 4));
}
inline std::string PValue(double p) {
  return Typeset(readable::PValue(p));
}
inline std::string Bytes(int64_t bytes) {
  return Typeset(readable::Bytes(bytes));
}
inline std::string Duration(double seconds) {
  return Typeset(readable::Duration(seconds));
}

// For attributes of SVG: at most two decimals, a plain minus sign.
std::string Coordinate(double value);

}  // namespace resmem

#endif  // RESMEM_REPORT_NUMBERS_H_
