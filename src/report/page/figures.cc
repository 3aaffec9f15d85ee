#include "report/chart/line_chart.h"
#include "report/numbers.h"
#include "report/page/page.h"
#include "report/page/widgets.h"

namespace resmem {
namespace {

constexpr size_t kMostPoints = 10000;  // of one figure

Axis ReadAxis(const Node& node) {
  return {node.At("label").Text(), node.At("logarithmic").Flag(), node.At("percent").Flag()};
}

Html Shown(const Node& node, bool percent) {
  return Data(node, percent ? Percent(node.Number()) : Short(node.Number()));
}

}  // namespace

Html FigureSection(const Node& node) {
  Figure figure{node.At("title").Text(),
                node.At("caption").Text(),
                ReadAxis(node.At("x")),
                ReadAxis(node.At("y")),
                {}};
  size_t total = 0;
  Html rows;
  for (const Node& curve_node : node.At("curves").Items()) {
    Curve curve{curve_node.At("name").Text(), curve_node.At("reference").Flag(), {}};
    const std::vector<Node> points = curve_node.At("points").Items();
    total += points.size();
    if (total > kMostPoints) {
      node.At("curves").Fail("curves of at most 10,000 points together");
      return {};
    }
    for (const Node& point_node : points) {
      // A value that could not be measured leaves a gap in the table and none in the curve.
      if (!point_node.Find("x") || !point_node.Find("y")) continue;
      CurvePoint point{point_node.At("x").Number(), point_node.At("y").Number(), {}};
      Html interval;
      interval << "\u2013";
      if (point_node.Find("low") && point_node.Find("high")) {
        point.interval = IntervalOf(point_node);
        interval = Html() << Shown(point_node.At("low"), figure.y.percent) << " to "
                          << Shown(point_node.At("high"), figure.y.percent);
      }
      rows << TableRow(Name(curve.name), Shown(point_node.At("x"), figure.x.percent),
                       Shown(point_node.At("y"), figure.y.percent), interval);
      curve.points.push_back(point);
    }
    figure.curves.push_back(std::move(curve));
  }
  if (rows.empty()) return ChartFigure(figure.title, "There are no points to draw.", Html());
  return ChartFigure(
      figure.title, figure.caption,
      DrawLineChart(figure) << Details(
          "These values as a table",
          Table(figure.title,
                Heading({"Curve", figure.x.label, figure.y.label, "95\u202f% interval"}), rows)));
}

void AddFigures(const Node& document, Page* page) {
  const std::string title = document.At("title").Text();
  if (page->title.empty()) page->title = title;
  Html figures;
  for (const Node& figure : document.At("figures").Items()) figures << FigureSection(figure);
  page->sections.push_back({title, Element("div", {{"class", "grid-2"}}, figures)});
}

}  // namespace resmem
