// Numbers in sentences for people: one form for each kind of them.
#ifndef RESMEM_EVAL_NUMBER_TEXT_H_
#define RESMEM_EVAL_NUMBER_TEXT_H_

#include <cstdint>
#include <string>

namespace resmem {

std::string CountText(int64_t count);        // "12,345"
std::string ShareText(double share);         // "0.8582": of neighbors, of mass
std::string PointsText(double share);        // "2.33": percentage points
std::string SignedPointsText(double share);  // "+2.33"

}  // namespace resmem

#endif  // RESMEM_EVAL_NUMBER_TEXT_H_
