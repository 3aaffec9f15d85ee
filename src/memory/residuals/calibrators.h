// The calibrators there are: from raw scores, which sum to 1 but may leave [0, 1], to
// probabilities.  A new one is a line of the table in calibrators.cc and a test; help, checks of a
// memory's description and the tuner read the table.
#ifndef RESMEM_MEMORY_RESIDUALS_CALIBRATORS_H_
#define RESMEM_MEMORY_RESIDUALS_CALIBRATORS_H_

#include <span>
#include <string>
#include <string_view>

namespace resmem {

struct Calibrator {
  std::string_view name;
  std::string_view help;  // what it computes, in a few words
  // Makes finite scores a probability vector, in place.
  void (*apply)(float temperature, std::span<float> scores);
  // What the tuner tries; empty where there is no temperature.
  std::span<const float> temperatures = {};

  bool has_temperature() const { return !temperatures.empty(); }
};

std::span<const Calibrator> Calibrators();
// Null where none has this name.
const Calibrator* FindCalibrator(std::string_view name);
// "clip, simplex and log-temperature"
std::string CalibratorNamesText();

}  // namespace resmem

#endif  // RESMEM_MEMORY_RESIDUALS_CALIBRATORS_H_
