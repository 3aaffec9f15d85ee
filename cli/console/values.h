// Text of the command line to values and back.
#ifndef RESMEM_CLI_CONSOLE_VALUES_H_
#define RESMEM_CLI_CONSOLE_VALUES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "resmem/status.h"

namespace resmem::cli {

// Errors (kInvalidArgument) quote the text and say what was expected.
Status ParseValue(std::string_view text, std::string* out);
Status ParseValue(std::string_view text, int* out);
Status ParseValue(std::string_view text, int64_t* out);
Status ParseValue(std::string_view text, uint64_t* out);
Status ParseValue(std::string_view text, float* out);  // finite
Status ParseValue(std::string_view text, double* out);
// Lists are separated by commas; of numbers also low:high:count, evenly spaced from low to
// high, both included (for int64_t rounded, repetitions dropped).
Status ParseValue(std::string_view text, std::vector<std::string>* out);
Status ParseValue(std::string_view text, std::vector<int64_t>* out);
Status ParseValue(std::string_view text, std::vector<uint64_t>* out);
Status ParseValue(std::string_view text, std::vector<float>* out);
Status ParseValue(std::string_view text, std::vector<double>* out);

template <typename T>
Status ParseValue(std::string_view text, std::optional<T>* out) {
  T value{};
  RESMEM_RETURN_IF_ERROR(ParseValue(text, &value));
  *out = std::move(value);
  return {};
}

// A default as the help shows it; empty: nothing to show.
std::string ShowValue(const std::string& value);
std::string ShowValue(int64_t value);
std::string ShowValue(uint64_t value);
std::string ShowValue(int value);
std::string ShowValue(double value);
template <typename T>
std::string ShowValue(const std::vector<T>& values) {
  std::string text;
  for (const T& value : values) text += (text.empty() ? "" : ",") + ShowValue(value);
  return text;
}

template <typename T>
std::string ShowValue(const std::optional<T>& value) {
  return value.has_value() ? ShowValue(*value) : std::string();
}

}  // namespace resmem::cli

#endif  // RESMEM_CLI_CONSOLE_VALUES_H_
