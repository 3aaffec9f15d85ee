#include "eval/number_text.h"

#include <cstdio>

namespace resmem {
namespace {

std::string Printed(const char* format, double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

}  // namespace

std::string CountText(int64_t count) {
  std::string text = std::to_string(count);
  const int64_t first = count < 0 ? 1 : 0;
  for (int64_t place = std::ssize(text) - 3; place > first; place -= 3) {
    text.insert(static_cast<size_t>(place), ",");
  }
  return text;
}

std::string ShareText(double share) {
  return Printed("%.4f", share);
}

std::string PointsText(double share) {
  return Printed("%.2f", 100 * share);
}

std::string SignedPointsText(double share) {
  return Printed("%+.2f", 100 * share);
}

}  // namespace resmem
