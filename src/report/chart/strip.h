// Charts one line high, for the cells of a table.  Positions are per cent of the width, so
// that a strip takes whatever width the cell has and its marks keep their shape.
#ifndef RESMEM_REPORT_CHART_STRIP_H_
#define RESMEM_REPORT_CHART_STRIP_H_

#include <span>
#include <string>
#include <string_view>

#include "report/chart/scale.h"
#include "report/html.h"
#include "resmem/evaluation.h"

namespace resmem {

// A scale for strips, with room for marks at both ends.
Scale StripScale(const Extent& extent);

// The ticks' values above a column of strips.
Html DrawStripAxis(const Scale& scale);

// A dot and its interval; `reference` is drawn as a quiet line through the whole height.
Html DrawInterval(const Scale& scale, double value, const Interval& interval, double reference,
                  std::string_view style);

// A bar from zero to `value`: right and blue, or left and orange.
Html DrawDivergingBar(const Scale& scale, double value);

// Shares of one whole, side by side, in the order given.
struct Part {
  std::string_view style;
  double share;
};
Html DrawParts(std::span<const Part> parts, std::string_view description);

}  // namespace resmem

#endif  // RESMEM_REPORT_CHART_STRIP_H_
