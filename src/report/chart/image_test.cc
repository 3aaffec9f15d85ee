#include <gtest/gtest.h>

#include <array>

#include "resmem/report/report.h"

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

TEST(FigureGridSvg, PanelsShareOneLegendAndThoseOfAColumnTheirScale) {
  const auto panel = [](const char* title, double highest) {
    return Figure{title,
                  "",
                  {"n", false, false},
                  {"risk", false, false},
                  {{"base", false, {{1, 0, {}}, {2, highest, {}}}},
                   {"limit", true, {{1, 0, {}}, {2, 0, {}}}},
                   {"rate", true, {{1, 0, {}}, {2, 0, {}}}}}};
  };
  const std::array<Figure, 4> figures = {panel("a", 1), panel("b", 1), panel("c", 800),
                                         panel("d", 2)};
  const std::string svg = FigureGridSvg("four", figures, 2);
  EXPECT_EQ(Occurrences(svg, "class=\"curve c1\""), 5u);  // four panels and one legend
  EXPECT_EQ(Occurrences(svg, "class=\"reference second\""), 5u);
  EXPECT_EQ(Occurrences(svg, ">800</text>"), 2u);  // "a" is drawn on the scale of "c"
  EXPECT_EQ(Occurrences(svg, ">2.0</text>"), 6u);  // "b" on that of "d"; and n
  for (const char* title : {">a<", ">b<", ">c<", ">d<"}) EXPECT_EQ(Occurrences(svg, title), 1u);
}

TEST(FigureSvg, AFigureWithoutPointsIsStillAImage) {
  EXPECT_TRUE(FigureSvg(Figure{}).ends_with("</svg>\n"));
}

}  // namespace
}  // namespace resmem
