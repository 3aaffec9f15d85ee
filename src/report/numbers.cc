#include "report/numbers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string_view>

namespace resmem {
namespace {

constexpr std::string_view kMinus = "\u2212";
constexpr std::string_view kThinSpace = "\u202f";

std::string Print(const char* format, int digits, double value) {
  std::array<char, 400> text;  // 1e308 has 309 digits before the point
  const int size = std::snprintf(text.data(), text.size(), format, digits, value);
  return std::string(text.data(), static_cast<size_t>(std::clamp(size, 0, 399)));
}

// Puts a typographic minus, and none before what was rounded to zero.
std::string WithMinus(std::string text) {
  if (!text.starts_with('-')) return text;
  const bool zero = text.find_first_not_of("-0.") == std::string::npos;
  return zero ? text.substr(1) : std::string(kMinus) + text.substr(1);
}

}  // namespace

std::string Grouped(int64_t count) {
  std::string digits = std::to_string(count);
  const size_t first = count < 0 ? 1 : 0;
  for (size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return WithMinus(std::move(digits));
}

std::string Fixed(double value, int decimals) {
  return WithMinus(Print("%.*f", decimals, value));
}

std::string Signed(double value, int decimals) {
  std::string text = Fixed(value, decimals);
  const bool zero = text.find_first_not_of("0.") == std::string::npos;
  return value > 0 && !zero ? "+" + text : text;
}

std::string Percent(double share, int decimals) {
  return Fixed(share * 100, decimals).append(kThinSpace).append("%");
}

std::string Points(double share) {
  return Signed(share * 100, 2);
}

std::string Short(double value) {
  return WithMinus(Print("%.*g", 4, value));
}

std::string PValue(double p) {
  return p < 0.0001 ? "< 0.0001" : Print("%.*g", 2, p);
}

std::string Bytes(int64_t bytes) {
  static constexpr std::array<const char*, 5> kUnits = {"bytes", "kB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1000 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  const int decimals = unit > 0 && value < 100 ? 1 : 0;
  return Fixed(value, decimals).append(kThinSpace).append(kUnits[unit]);
}

std::string Duration(double seconds) {
  if (!(seconds >= 0) || seconds > 1e9) return "unknown";
  if (seconds < 60) return Fixed(seconds, seconds < 10 ? 2 : 1).append(kThinSpace).append("s");
  const auto whole = static_cast<int64_t>(std::llround(seconds));
  if (whole < 3600) {
    return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  }
  return std::to_string(whole / 3600) + " h " + std::to_string(whole / 60 % 60) + " min";
}

std::string Coordinate(double value) {
  if (!std::isfinite(value)) return "0";
  std::string text = Print("%.*f", 2, std::clamp(value, -1e6, 1e6));
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

}  // namespace resmem
