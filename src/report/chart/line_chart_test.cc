#include "report/chart/line_chart.h"

#include <gtest/gtest.h>

namespace resmem {
namespace {

size_t Occurrences(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(FigureSvg, DrawsEveryCurveAndEscapesEveryName) {
  Figure figure{"a < b", "", {"x", false, false}, {"accuracy", false, true}, {}};
  figure.curves.push_back({"base & co", false, {{1, 0.5, Interval{0.4, 0.6}}, {2, 0.6, {}}}});
  figure.curves.push_back({"ResMem", false, {{1, 0.7, {}}, {2, 0.8, {}}}});
  figure.curves.push_back({"the paper", true, {{1, 0.9, {}}, {2, 0.9, {}}}});
  const std::string svg = FigureSvg(figure);
  EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_NE(svg.find("a &lt; b"), std::string::npos);
  EXPECT_NE(svg.find("base &amp; co"), std::string::npos);
  EXPECT_EQ(Occurrences(svg, "class=\"curve c1\""), 2u);  // the curve and its swatch
  EXPECT_EQ(Occurrences(svg, "class=\"curve c2\""), 2u);
  EXPECT_EQ(Occurrences(svg, "class=\"reference\""), 2u);
  EXPECT_EQ(Occurrences(svg, "class=\"band\""), 1u);
  EXPECT_EQ(svg.find("var("), std::string::npos);
}

TEST(FigureSvg, AFigureWithoutPointsIsStillAPicture) {
  EXPECT_TRUE(FigureSvg(Figure{}).ends_with("</svg>\n"));
}

}  // namespace
}  // namespace resmem
