#include "memory/filters/tag_time.h"

#include <algorithm>
#include <chrono>

namespace resmem {
namespace {

// Takes `count` digits and the mark before them off the front.
std::optional<int> TakeDigits(std::string_view* text, char mark, size_t count) {
  if (mark != '\0') {
    if (!text->starts_with(mark)) return std::nullopt;
    text->remove_prefix(1);
  }
  if (text->size() < count) return std::nullopt;
  int number = 0;
  for (const char digit : text->substr(0, count)) {
    if (digit < '0' || digit > '9') return std::nullopt;
    number = number * 10 + (digit - '0');
  }
  text->remove_prefix(count);
  return number;
}

}  // namespace

std::optional<TagTime> ParseTagTime(std::string_view text) {
  const auto year = TakeDigits(&text, '\0', 4), month = TakeDigits(&text, '-', 2);
  const auto day = TakeDigits(&text, '-', 2);
  if (!year || !month || !day || *year < 1) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  int64_t seconds = int64_t{std::chrono::sys_days(date).time_since_epoch().count()} * 86400;
  int64_t length = 86400;
  if (text.starts_with('T') || text.starts_with(' ')) {
    const auto hour = TakeDigits(&text, text.front(), 2), minute = TakeDigits(&text, ':', 2);
    if (!hour || !minute || *hour > 23 || *minute > 59) return std::nullopt;
    seconds += *hour * 3600 + *minute * 60;
    length = 60;
    if (text.starts_with(':')) {
      const auto second = TakeDigits(&text, ':', 2);
      if (!second || *second > 59) return std::nullopt;
      seconds += *second;
      length = 1;
    }
  }
  if (text.starts_with('Z')) text.remove_prefix(1);
  if (!text.empty()) return std::nullopt;
  return TagTime{seconds, seconds + length};
}

}  // namespace resmem
