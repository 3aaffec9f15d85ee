#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "theory/simulation_json.h"

namespace resmem {
namespace {

SimulationResult SmallSimulation() {
  SimulationOptions options;
  options.dimensions = {1, 2};
  options.bounds = {0.5};
  options.samples = {10, 20, 40};
  SimulationSetting soft;
  soft.k = 3;
  soft.sigma = 0.5;
  options.settings = {SimulationSetting(), soft};
  options.draws = 3;
  options.tests = 20;
  Result<SimulationResult> result = RunSimulation(options);
  EXPECT_TRUE(result.ok()) << result.status().message();
  return std::move(result).value();
}

TEST(SimulationJson, HoldsEveryNumberExactly) {
  const SimulationResult result = SmallSimulation();
  const auto json = nlohmann::json::parse(SimulationJson(result, RunInfo()));
  EXPECT_EQ(json["schema"], "resmem.simulation.v1");
  EXPECT_EQ(json["violations"], 0);
  ASSERT_EQ(json["curves"].size(), 4u);
  const auto& curve = json["curves"][3];
  EXPECT_EQ(curve["name"], "k=3 sigma=0.5");
  EXPECT_EQ(curve["dimension"], 2);
  const SimulationCurve& expected = result.curves[3];
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(curve["points"][i]["resmem"]["mean"].get<double>(), expected.points[i].resmem.mean);
    EXPECT_EQ(curve["points"][i]["z"]["error"].get<double>(), expected.points[i].z.error);
  }
  EXPECT_EQ(curve["slopes"]["t2"]["value"].get<double>(), expected.slopes.t2->value);
  // JSON has no infinity: equal weights, and no slope where T1 is rounding.
  EXPECT_TRUE(json["curves"][0]["sigma"].is_null());
  EXPECT_TRUE(json["curves"][0]["slopes"]["t1"].is_null());
}

TEST(SimulationReport, ShowsEverySettingAndItsExactNumbers) {
  const std::string json = SimulationJson(SmallSimulation(), RunInfo());
  const Result<std::string> page = RenderReport(json);
  ASSERT_TRUE(page.ok()) << page.status().message();
  EXPECT_NE(page->find("Setting: paper"), std::string::npos);
  EXPECT_NE(page->find("Setting: k=3 sigma=0.5"), std::string::npos);
  EXPECT_NE(page->find("Who wins"), std::string::npos);
  EXPECT_NE(page->find("data-path=\"/curves/3/points/2/resmem/mean\""), std::string::npos);
  EXPECT_EQ(page->find("nan"), std::string::npos);
}

TEST(SimulationReport, RefusesADocumentThatIsNotOne) {
  auto json = nlohmann::json::parse(SimulationJson(SmallSimulation(), RunInfo()));
  json["curves"][1]["points"][0]["knn"]["mean"] = "much";
  const Result<std::string> page = RenderReport(json.dump());
  ASSERT_FALSE(page.ok());
  EXPECT_EQ(page.status().code(), ErrorCode::kBadData);
  EXPECT_NE(page.status().message().find("/curves/1/points/0/knn/mean"), std::string::npos)
      << page.status().message();
}

TEST(SimulationReport, EscapesTheNameOfASetting) {
  auto json = nlohmann::json::parse(SimulationJson(SmallSimulation(), RunInfo()));
  for (auto& curve : json["curves"]) curve["name"] = "<script>alert(1)</script>";
  const Result<std::string> page = RenderReport(json.dump());
  ASSERT_TRUE(page.ok()) << page.status().message();
  EXPECT_EQ(page->find("<script"), std::string::npos);
  EXPECT_NE(page->find("&lt;script"), std::string::npos);
}

}  // namespace
}  // namespace resmem
