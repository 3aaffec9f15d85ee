#include <algorithm>
#include <cmath>
#include <cstdio>

#include "resmem_program/readable.h"

namespace resmem::readable {
namespace {

template <typename... Values>
std::string Print(const char* format, Values... values) {
  char buffer[400];  // the widest: a double without exponent
  const int size = std::snprintf(buffer, sizeof(buffer), format, values...);
  return std::string(buffer, static_cast<size_t>(std::clamp(size, 0, 399)));
}

std::string WithoutMinusOfZero(std::string text) {
  const bool zero = text.find_first_not_of("-0.") == std::string::npos;
  return zero && text.starts_with('-') ? text.substr(1) : text;
}

}  // namespace

std::string Count(int64_t value) {
  std::string digits = std::to_string(value);
  const size_t first = value < 0 ? 1 : 0;
  for (size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::string Counted(int64_t value, const char* noun) {
  return Count(value) + " " + noun + (value == 1 ? "" : "s");
}

std::string Fixed(double value, int decimals) {
  return WithoutMinusOfZero(Print("%.*f", decimals, value));
}

std::string Signed(double value, int decimals) {
  std::string text = Fixed(value, decimals);
  return text.starts_with('-') ? text : "+" + text;
}

std::string ShortNumber(double value, int digits) {
  return WithoutMinusOfZero(Print("%.*g", digits, value));
}

std::string Scientific(double value) {
  return Print("%.1e", value);
}

std::string Percent(double share, int decimals) {
  return Fixed(100 * share, decimals) + " %";
}

std::string Points(double share) {
  return Fixed(100 * share, 2);
}

std::string SignedPoints(double share) {
  return Signed(100 * share, 2);
}

std::string PValue(double p) {
  return p < 1e-6 ? "< 1e-6" : Print("%.2g", p);
}

std::string Bytes(int64_t value) {
  if (value < 1000) return Counted(value, "byte");
  const char* const units[] = {"kB", "MB", "GB", "TB", "PB"};
  double scaled = static_cast<double>(value) / 1000;
  int unit = 0;
  while (scaled >= 999.95 && unit < 4) scaled /= 1000, ++unit;
  return Fixed(scaled, 1) + " " + units[unit];
}

std::string Duration(double seconds) {
  if (!(seconds >= 0) || seconds > 1e9) return "unknown";
  if (seconds < 1) return Fixed(1000 * seconds, 0) + " ms";
  if (seconds < 10) return Fixed(seconds, 1) + " s";
  const auto whole = static_cast<long long>(std::llround(seconds));
  if (whole < 60) return Print("%lld s", whole);
  if (whole < 3600) return Print("%lld min %02lld s", whole / 60, whole % 60);
  return Print("%lld h %02lld min", whole / 3600, whole / 60 % 60);
}

}  // namespace resmem::readable
