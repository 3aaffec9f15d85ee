#include "console/progress_bar.h"

#include <gtest/gtest.h>

namespace resmem::cli {
namespace {

TEST(ProgressText, GivesShareRateAndTimeLeft) {
  EXPECT_EQ(ProgressText("searching", 5000, 10000, 0.5),
            "searching  [##########----------]  50 %  5,000 of 10,000  10,000/s  500 ms left");
  EXPECT_EQ(ProgressText("searching", 0, 0, 0), "searching  [--------------------]  0 %  0 of 0");
}

}  // namespace
}  // namespace resmem::cli
