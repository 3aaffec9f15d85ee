#include "resmem_program/readable.h"

#include <gtest/gtest.h>

#include <limits>

namespace resmem::readable {
namespace {

TEST(Readable, CountsAreGroupedByThree) {
  EXPECT_EQ(Count(0), "0");
  EXPECT_EQ(Count(999), "999");
  EXPECT_EQ(Count(1000), "1,000");
  EXPECT_EQ(Count(12345678), "12,345,678");
  EXPECT_EQ(Count(-123), "-123");
  EXPECT_EQ(Count(-1234567), "-1,234,567");
  EXPECT_EQ(Counted(1, "row"), "1 row");
  EXPECT_EQ(Counted(2, "row"), "2 rows");
}

TEST(Readable, WhatRoundsToZeroHasNoMinusSign) {
  EXPECT_EQ(Fixed(-0.0001, 2), "0.00");
  EXPECT_EQ(Signed(-0.0001, 2), "+0.00");
  EXPECT_EQ(Signed(-0.5, 1), "-0.5");
  EXPECT_EQ(ShortNumber(-0.0), "0");
}

TEST(Readable, SharesArePercentAndTheirDifferencesPoints) {
  EXPECT_EQ(Percent(0.5966), "59.66 %");
  EXPECT_EQ(Percent(0.5966, 1), "59.7 %");
  EXPECT_EQ(Points(0.069), "6.90");
  EXPECT_EQ(SignedPoints(0.0087), "+0.87");
}

TEST(Readable, AShortNumberHasNoMoreDigitsThanNeeded) {
  EXPECT_EQ(ShortNumber(0.7f), "0.7");
  EXPECT_EQ(ShortNumber(0.33444, 3), "0.334");
  EXPECT_EQ(Scientific(-1.23e-8), "-1.2e-08");
}

TEST(Readable, ThePValueOfAMillionthIsTheSmallestThatIsPrinted) {
  EXPECT_EQ(PValue(0), "< 1e-6");
  EXPECT_EQ(PValue(2.34e-5), "2.3e-05");
  EXPECT_EQ(PValue(0.0341), "0.034");
}

TEST(Readable, UnitsSuitTheSize) {
  EXPECT_EQ(Bytes(999), "999 bytes");
  EXPECT_EQ(Bytes(12'800'000), "12.8 MB");
  EXPECT_EQ(Bytes(999'999), "1.0 MB");
  EXPECT_EQ(Duration(0.85), "850 ms");
  EXPECT_EQ(Duration(2.14), "2.1 s");
  EXPECT_EQ(Duration(59.7), "1 min 00 s");
  EXPECT_EQ(Duration(200), "3 min 20 s");
  EXPECT_EQ(Duration(7260), "2 h 01 min");
}

TEST(Readable, HugeValuesFit) {
  EXPECT_EQ(Fixed(1e308, 2).size(), 309u + 3u);
  EXPECT_EQ(Duration(std::numeric_limits<double>::infinity()), "unknown");
}

TEST(ReadableTable, AlignsColumnsByCharactersAndNotByBytes) {
  Table table({{"class", Table::Align::kLeft}, {"rows"}});
  table.AddRow({"été", "5"});
  table.AddRow({"winter", "1,000"});
  EXPECT_EQ(table.Text(), "class    rows\nété         5\nwinter  1,000\n");
}

TEST(ReadableTable, HasNoTitleLineWithoutTitles) {
  Table table = Table::Facts();
  table.AddRow({"rows", "5"});
  EXPECT_EQ(table.Text(), "rows  5\n");
}

TEST(ReadableTable, MarkdownIsAlignedInItsSourceToo) {
  Table table = Table::OfNumbers({"n", "risk", "why"}, 1);
  table.AddRow({"10", "0.5 ±0.1", "few"});
  table.AddRow({"1,000"});
  EXPECT_EQ(table.Markdown(),
            "| n     |     risk | why |\n"
            "|-------|---------:|-----|\n"
            "| 10    | 0.5 ±0.1 | few |\n"
            "| 1,000 |          |     |\n");
}

TEST(ReadableTable, ALongCellOfMarkdownDoesNotWidenTheOthers) {
  Table table = Table::OfNumbers({"n", "why"}, 1);
  const std::string words(41, 'w');
  table.AddRow({"1", words});
  table.AddRow({"2", "-"});
  EXPECT_EQ(table.Markdown(), "| n | why |\n|---|---|\n| 1 | " + words + " |\n| 2 | - |\n");
}

}  // namespace
}  // namespace resmem::readable
