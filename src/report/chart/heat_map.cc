#include "report/chart/heat_map.h"

#include <algorithm>
#include <cmath>

#include "report/chart/svg.h"
#include "support/check.h"

namespace resmem {
namespace {

constexpr double kLeft = 52, kTop = 8, kWidth = 278, kHeight = 200;
// A cell that differs from zero at all is told from the background.
constexpr double kPalest = 0.06;

double Opacity(double value, double largest) {
  if (value == 0) return 0;
  return kPalest + (1 - kPalest) * std::min(1.0, std::abs(value) / largest);
}

const char* Style(double value) {
  return value < 0 ? "harmed" : "fixed";
}

Html ColorKey(double lowest, double highest, double largest) {
  constexpr int kSteps = 9;
  Html cells;
  for (int i = 0; i < kSteps; ++i) {
    const double value = lowest + (highest - lowest) * i / (kSteps - 1);
    cells << SvgBox(i * 20, 0, 20, 10, Style(value), Opacity(value, largest));
  }
  return Element("p", {{"class", "key"}}, Points(lowest),
                 Element("svg", {{"viewBox", "0 0 180 10"}, {"aria-hidden", "true"}}, cells),
                 Points(highest), " points");
}

}  // namespace

Html DrawHeatMap(const HeatMap& map) {
  RESMEM_DCHECK(map.values.size() == map.rows.size() * map.columns.size() && !map.values.empty());
  const auto [lowest, highest] = std::minmax_element(map.values.begin(), map.values.end());
  const double largest = std::max(std::abs(*lowest), std::abs(*highest));
  const double cell_width = kWidth / static_cast<double>(map.columns.size());
  const double cell_height = kHeight / static_cast<double>(map.rows.size());
  const auto left = [&](size_t column) { return kLeft + cell_width * static_cast<double>(column); };
  const auto top = [&](size_t row) {
    return kTop + kHeight - cell_height * static_cast<double>(row + 1);
  };

  Html cells;
  for (size_t row = 0; row < map.rows.size(); ++row) {
    for (size_t column = 0; column < map.columns.size(); ++column) {
      const double value = map.values[row * map.columns.size() + column];
      cells << SvgBox(left(column), top(row), cell_width, cell_height, Style(value),
                      Opacity(value, largest));
    }
  }
  Html labels;
  const size_t every_column = (map.columns.size() + 9) / 10, every_row = (map.rows.size() + 9) / 10;
  for (size_t column = 0; column < map.columns.size(); column += every_column) {
    labels << SvgText(left(column) + cell_width / 2, kTop + kHeight + 15, "tick middle",
                      map.columns[column]);
  }
  for (size_t row = 0; row < map.rows.size(); row += every_row) {
    labels << SvgText(kLeft - 6, top(row) + cell_height / 2 + 3.5, "tick end", map.rows[row]);
  }
  labels << SvgText(kLeft + kWidth / 2, kTop + kHeight + 34, "axis-label middle", map.x_label);
  const Html frame = SvgBox(kLeft, kTop, kWidth, kHeight, "frame");
  const Html chosen =
      SvgBox(left(map.chosen_column), top(map.chosen_row), cell_width, cell_height, "chosen");
  const std::string description = map.title + ": gain for each " + map.x_label + " and " +
                                  map.y_label + "; the values are in the table";
  return Html() << ColorKey(*lowest, *highest, largest)
                << Element("p", {{"class", "axis-title"}}, map.y_label)
                << Element("svg",
                           {{"class", "plot"},
                            {"viewBox", "0 0 340 250"},
                            {"role", "img"},
                            {"aria-label", description}},
                           cells, frame, chosen, labels);
}

}  // namespace resmem
