#include "theory/simulation_options.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>

namespace resmem {
namespace {

// What is wrong, and what the message must say of it.
struct BadOption {
  std::function<void(SimulationOptions*)> spoil;
  std::string message;
};

TEST(SimulationOptions, DefaultsAreSound) {
  EXPECT_TRUE(CheckSimulationOptions(SimulationOptions()).ok());
  EXPECT_EQ(DefaultSimulationSettings().front(), SimulationSetting());
}

TEST(SimulationOptions, EachBadValueIsRefusedWithItsValue) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const BadOption cases[] = {
      {[](auto* o) {
         o->dimensions = {2, 0};
       },
       "dimension d is 0; it must be from 1 to 100"},
      {[](auto* o) { o->dimensions = {101}; }, "dimension d is 101"},
      {[](auto* o) { o->dimensions = {}; }, "no dimension given"},
      {[](auto* o) {
         o->dimensions = {2, 2};
       },
       "dimension has 2 twice"},
      {[](auto* o) { o->bounds = {1}; }, "bound L is 1; it must be at least 0 and below 1"},
      {[](auto* o) { o->bounds = {-0.1}; }, "bound L is -0.1"},
      {[&](auto* o) { o->bounds = {nan}; }, "bound L is nan"},
      {[](auto* o) { o->samples = {0}; }, "sample size n is 0; it must be from 1"},
      {[](auto* o) {
         o->samples = {100, 10};
       },
       "do not increase"},
      {[](auto* o) { o->samples = {50'000'000}; }, "n = 50000000 points of d = 5"},
      {[](auto* o) { o->samples = {}; }, "no sample size n given"},
      {[](auto* o) { o->draws = 1; }, "the number of draws is 1; it must be from 2"},
      {[](auto* o) { o->tests = 0; }, "the number of tests is 0"},
      {[](auto* o) { o->fit_from = -1; }, "fit_from is -1"},
      {[](auto* o) { o->settings = {}; }, "no setting given"},
      {[](auto* o) {
         o->settings = {{}, {}};
       },
       "the setting paper is there twice"},
      {[](auto* o) { o->settings[0].k = 0; }, "k is 0; it must be from 1"},
      {[](auto* o) { o->settings[0].sigma = 0; }, "sigma is 0; it must be above 0"},
      {[&](auto* o) { o->settings[0].sigma = nan; }, "sigma is nan"},
      {[](auto* o) { o->settings[0].noise = -1; }, "noise is -1"},
      {[](auto* o) {
         o->settings[0].k = 10000;
         o->tests = 100000;
       },
       "k = 10000 neighbors of 100000 test points"},
  };
  for (const BadOption& bad : cases) {
    SimulationOptions options;
    bad.spoil(&options);
    const Result<SimulationResult> result = RunSimulation(options);
    ASSERT_FALSE(result.ok()) << bad.message;
    EXPECT_EQ(result.status().code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(result.status().message().find(bad.message), std::string::npos)
        << result.status().message();
  }
}

TEST(SimulationOptions, SettingsAreNamedByWhatDiffersFromThePaper) {
  SimulationSetting setting;
  EXPECT_EQ(SimulationSettingName(setting), "paper");
  setting.k = 10;
  setting.sigma = 0.5;
  setting.noise = 0.25;
  setting.target = SimulationTarget::kSine;
  EXPECT_EQ(SimulationSettingName(setting), "k=10 sigma=0.5 noise=0.25 sine");
}

TEST(SimulationOptions, FitStartsInTheMiddleOfTheLogarithmicRange) {
  SimulationOptions options;
  options.samples = {10, 100, 1000};
  EXPECT_EQ(ResolveFitFrom(options), 100);
  options.fit_from = 50;
  EXPECT_EQ(ResolveFitFrom(options), 50);
}

}  // namespace
}  // namespace resmem
