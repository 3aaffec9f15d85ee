// The calibrators there are: predict/ computes them, a memory names one in its description.
#ifndef RESMEM_SUPPORT_CALIBRATOR_NAMES_H_
#define RESMEM_SUPPORT_CALIBRATOR_NAMES_H_

#include <algorithm>
#include <array>
#include <string_view>

namespace resmem {

inline constexpr std::array<std::string_view, 3> kCalibratorNames = {"clip", "simplex",
                                                                     "log-temperature"};
inline constexpr char kCalibratorNamesText[] = "clip, simplex and log-temperature";

inline bool IsCalibratorName(std::string_view name) {
  return std::find(kCalibratorNames.begin(), kCalibratorNames.end(), name) !=
         kCalibratorNames.end();
}

}  // namespace resmem

#endif  // RESMEM_SUPPORT_CALIBRATOR_NAMES_H_
