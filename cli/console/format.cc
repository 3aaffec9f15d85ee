#include "console/format.h"

#include <cmath>
#include <cstdio>

namespace resmem::cli {
namespace {

template <typename... Values>
std::string Print(const char* format, Values... values) {
  char buffer[400];  // the widest: a double without exponent
  std::snprintf(buffer, sizeof(buffer), format, values...);
  return buffer;
}

}  // namespace

std::string ShortNumber(double value) {
  return Print("%.6g", value);
}

std::string Fixed(double value, int decimals) {
  return Print("%.*f", decimals, value);
}

std::string Scientific(double value) {
  return Print("%.1e", value);
}

std::string Percent(double share) {
  return Print("%.2f %%", 100 * share);
}

std::string SignedPoints(double share) {
  return Print("%+.2f", 100 * share);
}

std::string Count(int64_t value) {
  std::string digits = std::to_string(value);
  const int first = value < 0 ? 1 : 0;
  for (int i = static_cast<int>(digits.size()) - 3; i > first; i -= 3) digits.insert(i, ",");
  return digits;
}

std::string Counted(int64_t value, const char* noun) {
  return Count(value) + " " + noun + (value == 1 ? "" : "s");
}

std::string Bytes(int64_t value) {
  if (value < 1000) return Counted(value, "byte");
  const char* const units[] = {"kB", "MB", "GB", "TB", "PB"};
  double scaled = static_cast<double>(value) / 1000;
  int unit = 0;
  while (scaled >= 999.95 && unit < 4) scaled /= 1000, ++unit;
  return Print("%.1f %s", scaled, units[unit]);
}

std::string Duration(double seconds) {
  if (seconds < 1) return Print("%.0f ms", 1000 * seconds);
  if (seconds < 10) return Print("%.1f s", seconds);
  const int64_t whole = std::llround(seconds);
  if (whole < 60) return Print("%lld s", static_cast<long long>(whole));
  if (whole < 3600) {
    return Print("%lld min %02lld s", static_cast<long long>(whole / 60),
                 static_cast<long long>(whole % 60));
  }
  return Print("%lld h %02lld min", static_cast<long long>(whole / 3600),
               static_cast<long long>(whole / 60 % 60));
}

std::string PValue(double p) {
  return p < 1e-6 ? "< 1e-6" : Print("%.2g", p);
}

}  // namespace resmem::cli
