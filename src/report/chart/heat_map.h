#ifndef RESMEM_REPORT_CHART_HEAT_MAP_H_
#define RESMEM_REPORT_CHART_HEAT_MAP_H_

#include <cstddef>
#include <string>
#include <vector>

#include "report/html.h"

namespace resmem {

// Signed values on a grid.  Blue above zero, orange below, paler toward zero: the page's
// background shows through, so the same image serves light, dark and paper.
struct HeatMap {
  std::string title, x_label, y_label;
  std::vector<std::string> columns, rows;  // tick texts; rows from bottom to top
  std::vector<double> values;              // rows x columns
  size_t chosen_column = 0, chosen_row = 0;
};
Html DrawHeatMap(const HeatMap& map);

}  // namespace resmem

#endif  // RESMEM_REPORT_CHART_HEAT_MAP_H_
