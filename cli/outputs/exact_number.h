// Floats in text, so that they read back as the same floats.
#ifndef RESMEM_CLI_OUTPUTS_EXACT_NUMBER_H_
#define RESMEM_CLI_OUTPUTS_EXACT_NUMBER_H_

#include <charconv>
#include <string>

namespace resmem::cli {

// The fewest digits that read back as the same float.
inline std::string ExactNumber(float value) {
  char buffer[32];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return error == std::errc() ? std::string(buffer, end) : "nan";
}

// For JSON: the double nearest to the digits that ExactNumber() writes, not the float's own tail.
inline double ShortestDouble(float value) {
  const std::string digits = ExactNumber(value);
  double shortest = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), shortest);
  return shortest;
}

}  // namespace resmem::cli

#endif  // RESMEM_CLI_OUTPUTS_EXACT_NUMBER_H_
