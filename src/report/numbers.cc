#include "report/numbers.h"

#include <algorithm>
#include <cmath>

namespace resmem {

std::string Typeset(std::string number) {
  const auto digit = [&](size_t at) {
    return at < number.size() && number[at] >= '0' && number[at] <= '9';
  };
  std::string text;
  for (size_t i = 0; i < number.size(); ++i) {
    const bool after_digit = i > 0 && digit(i - 1);
    // After a digit a minus sign would be a range or a date; after the e of 1e-06 it is a sign.
    if (number[i] == '-' && digit(i + 1) && !after_digit) {
      text += "\u2212";
    } else if (number[i] == ' ' && after_digit) {
      text += "\u202f";
    } else {
      text += number[i];
    }
  }
  return text;
}

std::string Coordinate(double value) {
  if (!std::isfinite(value)) return "0";
  std::string text = readable::Fixed(std::clamp(value, -1e6, 1e6), 2);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

}  // namespace resmem
