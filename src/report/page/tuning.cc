#include <algorithm>

#include "report/chart/heat_map.h"
#include "report/chart/line_chart.h"
#include "report/numbers.h"
#include "report/page/page.h"
#include "report/page/tuning_grid.h"
#include "report/page/widgets.h"

namespace resmem {
namespace {

struct AxisText {
  const char* symbol;
  const char* label;
};
constexpr std::array<AxisText, 3> kAxes = {{{"k", "k, neighbors consulted"},
                                            {"\u03c3", "\u03c3, width of the weights"},
                                            {"T", "T, temperature of the base's softmax"}}};

// Steps of equal ratio read best on a logarithmic axis.
bool SpansOctaves(const std::vector<double>& values) {
  return values.front() > 0 && values.back() / values.front() >= 8;
}

Html CurveThroughChoice(const TuningGrid& grid, size_t axis) {
  const std::vector<double>& values = grid.axes[axis];
  Figure figure;
  figure.title = (grid.classification ? "Accuracy against " : "Error against ") +
                 std::string(kAxes[axis].symbol);
  figure.x = {kAxes[axis].label, SpansOctaves(values), false};
  figure.y = {grid.measure, false, grid.classification};
  Curve curve{"ResMem", false, {}};
  Html rows;
  for (size_t i = 0; i < values.size(); ++i) {
    auto at = grid.chosen;
    at[axis] = i;
    const double value = grid.At(at);
    curve.points.push_back({values[i], value, {}});
    rows << TableRow(Html() << Short(values[i]),
                     grid.classification ? Percent(value) : Short(value));
  }
  const CurvePoint mark = curve.points[grid.chosen[axis]];
  figure.curves.push_back(std::move(curve));
  figure.curves.push_back(
      {"base model", true, {{values.front(), grid.base, {}}, {values.back(), grid.base, {}}}});
  return ChartFigure(
      figure.title, "",
      DrawLineChart(figure, mark, std::string(kAxes[axis].symbol) + " = " + Short(mark.x))
          << Details("These values as a table",
                     Table(figure.title, Heading({kAxes[axis].symbol, grid.measure}), rows)));
}

Html HeatFigure(const TuningGrid& grid, size_t x_axis, size_t y_axis, size_t held) {
  HeatMap map;
  map.title = std::string("Gain over ") + kAxes[x_axis].symbol + " and " + kAxes[y_axis].symbol;
  map.x_label = kAxes[x_axis].label;
  map.y_label = kAxes[y_axis].label;
  for (const double value : grid.axes[x_axis]) map.columns.push_back(Short(value));
  for (const double value : grid.axes[y_axis]) map.rows.push_back(Short(value));
  map.chosen_column = grid.chosen[x_axis];
  map.chosen_row = grid.chosen[y_axis];
  Html head = Element("th", {{"scope", "col"}}, kAxes[y_axis].symbol, " \\ ", kAxes[x_axis].symbol);
  for (const std::string& column : map.columns) head << Element("th", {{"scope", "col"}}, column);
  std::vector<Html> lines;
  for (size_t row = 0; row < map.rows.size(); ++row) {
    Html line = Element("th", {{"scope", "row"}}, map.rows[row]);
    for (size_t column = 0; column < map.columns.size(); ++column) {
      auto at = grid.chosen;
      at[x_axis] = column;
      at[y_axis] = row;
      const double gain = grid.At(at) - grid.base;
      map.values.push_back(gain);
      line << Element("td", {}, Points(gain));
    }
    lines.push_back(Element("tr", {}, line));
  }
  Html rows;
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) rows << *line;
  const std::string caption =
      std::string("at ") + kAxes[held].symbol + " = " + Short(grid.axes[held][grid.chosen[held]]) +
      (grid.base_chosen ? "; the frame marks the best point" : "; the frame marks the choice");
  return ChartFigure(map.title, caption,
                     DrawHeatMap(map) << Details("These values as a table",
                                                 Table(map.title, Element("tr", {}, head), rows)));
}

Html GainSentence(const Node& gain) {
  return Html() << PointsData(gain.At("gain")) << " points (95\u202f% interval "
                << PointsData(gain.At("low")) << " to " << PointsData(gain.At("high")) << ")";
}

Html Choice(const Node& document, const TuningGrid& grid) {
  const Node chosen = document.At("chosen");
  Html text;
  text << "On " << CountData(document.At("rows")) << " validation rows, by the rule \u201c"
       << Name(document.At("objective").Text()) << "\u201d, over "
       << Grouped(static_cast<int64_t>(grid.values.size())) << " combinations: ";
  if (grid.base_chosen) {
    text << "no combination is better than the base alone, so k = " << CountData(chosen.At("k"))
         << ". The curves go through the best point.";
    return text;
  }
  text << "k = " << CountData(chosen.At("k")) << ", \u03c3 = " << ShortData(chosen.At("sigma"))
       << ", T = " << ShortData(chosen.At("temperature")) << ". ";
  if (grid.classification) {
    text << "Gain on the rows it was chosen on, so somewhat optimistic: "
         << GainSentence(document.At("chosen_gain")) << ". ";
    if (const std::optional<Node> honest = document.Find("cross_validated_gain")) {
      text << "Cross-validated: " << GainSentence(*honest) << ". ";
    }
  } else {
    text << "Mean squared error " << ShortData(document.At("chosen_loss")) << ", of the base alone "
         << ShortData(document.At("base_loss")) << ". ";
    if (const std::optional<Node> honest = document.Find("cross_validated_loss")) {
      text << "Cross-validated: " << ShortData(*honest) << ". ";
    }
  }
  return text << "Each curve goes through the choice, the other two parameters held.";
}

}  // namespace

void AddTuning(const Node& document, Page* page) {
  for (const Node& warning : document.At("warnings").Items()) {
    page->warnings.push_back(warning.Text());
  }
  if (page->title.empty()) page->title = "Which k, \u03c3 and T?";
  const std::optional<TuningGrid> grid = ReadTuningGrid(document);
  if (!grid) return;
  Html body = Element("p", {{"class", "lede"}}, Choice(document, *grid));
  Html figures;
  for (size_t axis = 0; axis < kAxes.size(); ++axis) figures << CurveThroughChoice(*grid, axis);
  Html maps;
  if (grid->classification) {
    maps << HeatFigure(*grid, 0, 1, 2) << HeatFigure(*grid, 2, 1, 0);
  }
  body << Element("div", {{"class", "grid-3"}}, figures)
       << Element("div", {{"class", "grid-2"}}, maps);
  page->sections.push_back({"How k, \u03c3 and T were chosen", body});
}

}  // namespace resmem
