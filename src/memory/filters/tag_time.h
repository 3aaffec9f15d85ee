// Points in time, as the tag `time` has them.
#ifndef RESMEM_MEMORY_FILTERS_TAG_TIME_H_
#define RESMEM_MEMORY_FILTERS_TAG_TIME_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace resmem {

// Seconds since 1970 in UTC, from the first to before the one behind the last that the text means:
// a day of 2026-11-19, a second of 2026-11-19T08:30:00.
struct TagTime {
  int64_t begin = 0, end = 0;
};

// YYYY-MM-DD, with THH:MM, THH:MM:SS and Z behind them or not; years 1 to 9999.
std::optional<TagTime> ParseTagTime(std::string_view text);

}  // namespace resmem

#endif  // RESMEM_MEMORY_FILTERS_TAG_TIME_H_
