// Small pieces that several sections are made of.
#ifndef RESMEM_REPORT_PAGE_WIDGETS_H_
#define RESMEM_REPORT_PAGE_WIDGETS_H_

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "report/html.h"
#include "report/node.h"
#include "resmem/evaluation.h"

namespace resmem {

// A number of the document as people read it, with the exact value and its place in the
// JSON beside it: <data value="0.8622" data-path="/gain/tpr">86.22 %</data>.
Html Data(const Node& node, std::string_view shown);
Html CountData(const Node& node);
Html PercentData(const Node& node);
Html PointsData(const Node& node);  // a difference of shares, in percentage points
Html ShortData(const Node& node);   // four digits; a dash where the value is null

Html Heading(std::initializer_list<std::string_view> columns);  // first left, others right
template <typename... Cells>
Html TableRow(const Html& first, const Cells&... cells) {
  Html row = Element("th", {{"scope", "row"}}, first);
  (row << ... << Element("td", {}, cells));
  return Element("tr", {}, row);
}
// Scrolls sideways by itself where the screen is narrow, also with the keyboard.
Html Table(std::string_view label, const Html& head, const Html& rows);
Html Details(std::string_view summary, const Html& body);
Html ChartFigure(std::string_view title, std::string_view caption, const Html& chart);

// A path as a page may show it: of one from the root the last part only, because a page is sent to
// people whom the folders of this machine do not concern.
std::string ShownPath(std::string_view path);

// Text from data, whose direction of writing must not reach beyond it.
Html Name(std::string_view text);
// The name of a class, or "class 7" where it has none.
std::string ClassName(const std::vector<std::string>& names, int64_t index);
std::vector<std::string> TextList(const Node& list);

Interval IntervalOf(const Node& node);  // fields low and high

}  // namespace resmem

#endif  // RESMEM_REPORT_PAGE_WIDGETS_H_
