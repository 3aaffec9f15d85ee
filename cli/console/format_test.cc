#include "console/format.h"

#include <gtest/gtest.h>

#include "console/progress_bar.h"
#include "console/table.h"

namespace resmem::cli {
namespace {

TEST(Format, WritesNumbersAsPeopleReadThem) {
  EXPECT_EQ(Count(0), "0");
  EXPECT_EQ(Count(999), "999");
  EXPECT_EQ(Count(50000), "50,000");
  EXPECT_EQ(Count(-1234567), "-1,234,567");
  EXPECT_EQ(Count(-123), "-123");
  EXPECT_EQ(Counted(1, "row"), "1 row");
  EXPECT_EQ(Counted(2, "row"), "2 rows");
  EXPECT_EQ(Bytes(999), "999 bytes");
  EXPECT_EQ(Bytes(12'800'000), "12.8 MB");
  EXPECT_EQ(Bytes(999'999), "1.0 MB");
  EXPECT_EQ(Percent(0.5966), "59.66 %");
  EXPECT_EQ(SignedPoints(0.032), "+3.20");
  EXPECT_EQ(ShortNumber(0.7f), "0.7");
  EXPECT_EQ(PValue(0), "< 1e-6");
  EXPECT_EQ(PValue(0.031), "0.031");
}

TEST(Format, ChoosesTheUnitOfADuration) {
  EXPECT_EQ(Duration(0.85), "850 ms");
  EXPECT_EQ(Duration(2.14), "2.1 s");
  EXPECT_EQ(Duration(59.7), "1 min 00 s");
  EXPECT_EQ(Duration(200), "3 min 20 s");
  EXPECT_EQ(Duration(7260), "2 h 01 min");
}

TEST(ProgressText, GivesShareRateAndTimeLeft) {
  EXPECT_EQ(ProgressText("searching", 5000, 10000, 0.5),
            "searching  [##########----------]  50 %  5,000 of 10,000  10,000/s  500 ms left");
  EXPECT_EQ(ProgressText("searching", 0, 0, 0), "searching  [--------------------]  0 %  0 of 0");
}

TEST(Table, AlignsColumnsByCharactersAndNotByBytes) {
  Table table({{"class", Table::Align::kLeft}, {"rows"}});
  table.AddRow({"été", "5"});
  table.AddRow({"winter", "1,000"});
  EXPECT_EQ(table.Text(), "class    rows\nété         5\nwinter  1,000\n");
}

TEST(Table, HasNoTitleLineWithoutTitles) {
  Table table = Table::Facts();
  table.AddRow({"rows", "5"});
  EXPECT_EQ(table.Text(), "rows  5\n");
}

}  // namespace
}  // namespace resmem::cli
