#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "theory/simulation.h"

namespace resmem {
namespace {

SimulationResult SmallResult() {
  SimulationOptions options;
  options.dimensions = {1, 2};
  options.bounds = {0.5};
  options.samples = {10, 20};
  SimulationSetting sine;
  sine.target = SimulationTarget::kSine;
  options.settings = {SimulationSetting(), sine};
  options.draws = 3;
  options.tests = 20;
  Result<SimulationResult> result = RunSimulation(options);
  EXPECT_TRUE(result.ok());
  return std::move(result).value();
}

TEST(SimulationCsv, HasOneFullLineForEachPoint) {
  const SimulationResult result = SmallResult();
  std::istringstream text(SimulationCsv(result));
  std::string line;
  std::vector<std::vector<std::string>> cells;
  while (std::getline(text, line)) {
    std::istringstream parts(line);
    std::string cell;
    cells.emplace_back();
    while (std::getline(parts, cell, ',')) cells.back().push_back(cell);
    EXPECT_EQ(cells.back().size(), cells.front().size());
  }
  ASSERT_EQ(cells.size(), 1 + 2 * 2 * 2u);
  EXPECT_EQ(cells[0][11], "resmem");
  EXPECT_EQ(cells[1][2], "inf");
  EXPECT_EQ(cells[8][0], "sine");
  // Full precision: the text reads back as the same double.
  EXPECT_EQ(std::stod(cells[8][11]), result.curves[3].points[1].resmem.mean);
}

TEST(SimulationText, ShowsThePapersTablesAndAllWinners) {
  const SimulationResult result = SmallResult();
  const std::string text = SimulationText(result);
  EXPECT_NE(text.find("### paper: d = 2, L = 0.5"), std::string::npos);
  EXPECT_EQ(text.find("### sine"), std::string::npos);
  EXPECT_NE(text.find("tends to 0.25 = (1-L)^2"), std::string::npos);
  EXPECT_NE(text.find("exceeded its decomposition in 0 of 24 cases"), std::string::npos);
  EXPECT_NE(text.find("With so few draws"), std::string::npos);
  const size_t winners = text.find("## Who wins");
  ASSERT_NE(winners, std::string::npos);
  EXPECT_NE(text.find("sine", winners), std::string::npos);
  EXPECT_NE(SimulationText(result, true).find("### sine: d = 1"), std::string::npos);
}

int Count(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(SimulationSvg, DrawsEveryCurveOfEveryPanel) {
  const SimulationResult result = SmallResult();
  const std::string paper = SimulationSvg(result);
  EXPECT_EQ(Count(paper, "class=\"line\""), 3 * 6);  // two dimensions and the legend; six curves
  EXPECT_NE(paper.find(">d = 2, L = 0.5<"), std::string::npos);
  const std::string sine = SimulationSvg(result, 1);
  EXPECT_EQ(Count(sine, "class=\"line\""), 3 * 5);  // nothing was proved for a sine
  EXPECT_EQ(Count(sine, "nan") + Count(sine, "inf"), 0);
}

}  // namespace
}  // namespace resmem
