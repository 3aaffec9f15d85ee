#include "report/page/widgets.h"

#include <cmath>

#include "report/numbers.h"

namespace resmem {

Html Data(const Node& node, std::string_view shown) {
  return Element("data", {{"value", node.Exact()}, {"data-path", node.path()}}, shown);
}

Html CountData(const Node& node) {
  return Data(node, Grouped(node.Count()));
}
Html PercentData(const Node& node) {
  return Data(node, Percent(node.Number()));
}
Html PointsData(const Node& node) {
  return Data(node, Points(node.Number()));
}

Html ShortData(const Node& node) {
  const double number = node.NumberOrNan();
  return std::isnan(number) ? Html() << "\u2013" : Data(node, Short(number));
}

Html Heading(std::initializer_list<std::string_view> columns) {
  Html cells;
  for (const std::string_view column : columns) {
    cells << Element("th", {{"scope", "col"}}, column);
  }
  return Element("tr", {}, cells);
}

Html Table(std::string_view label, const Html& head, const Html& rows) {
  return Element("div",
                 {{"class", "scroll"},
                  {"tabindex", "0"},
                  {"role", "region"},
                  {"aria-label", std::string(label)}},
                 Element("table", {}, Element("thead", {}, head), Element("tbody", {}, rows)));
}

Html Details(std::string_view summary, const Html& body) {
  return Element("details", {}, Element("summary", {}, summary), body);
}

Html ChartFigure(std::string_view title, std::string_view caption, const Html& chart) {
  Html heading = Element("h3", {}, title);
  if (!caption.empty()) heading << Element("p", {}, caption);
  return Element("figure", {}, Element("figcaption", {}, heading), chart);
}

std::string ShownPath(std::string_view path) {
  if (!path.starts_with('/')) return std::string(path);
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return "\u2026" + std::string(path.substr(path.rfind('/')));
}

Html Name(std::string_view text) {
  return Element("bdi", {}, text);
}

std::string ClassName(const std::vector<std::string>& names, int64_t index) {
  if (index >= 0 && index < static_cast<int64_t>(names.size())) {
    const std::string& name = names[static_cast<size_t>(index)];
    if (!name.empty()) return name;
  }
  return "class " + std::to_string(index);
}

std::vector<std::string> TextList(const Node& list) {
  std::vector<std::string> texts;
  for (const Node& item : list.Items()) texts.push_back(item.Text());
  return texts;
}

Interval IntervalOf(const Node& node) {
  return {node.At("low").Number(), node.At("high").Number()};
}

}  // namespace resmem
