#include "resmem/row_filter.h"

#include <gtest/gtest.h>

#include "memory/filters/tag_time.h"

namespace resmem {
namespace {

bool Match(const std::string& filter, std::string_view tags) {
  const Result<RowFilter> parsed = RowFilter::Parse(filter);
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  return parsed.ok() && parsed->Matches(tags);
}

TEST(RowFilter, ComparesTextNumbersAndTimes) {
  constexpr char kTags[] = "site=north;urgent;age=41.5;time=2026-11-19T08:30:00;site=lab 7";
  EXPECT_EQ(CheckTags(kTags).message(), "");
  for (const char* holds :
       {"site=north", "site=lab 7", "site = south | north", "tag=urgent", "tag!=old", "site!=south",
        "age=41.50", "age<42", "age>=41.5", "age > -1e3", "age<=41.5", "time<2026-11-20",
        "time>2026-11-18", "time=2026-11-19", "time<=2026-11-19", "time>=2026-11-19T08:30:00Z",
        "time=2026-11-19T08:30", "site=north,age>40", "none!=x"}) {
    EXPECT_TRUE(Match(holds, kTags)) << holds;
  }
  for (const char* fails :
       {"site=nort", "site!=north", "tag=north", "urgent=1", "age<41.5", "age>41.5", "site<5",
        "time<2026-11-19", "time>2026-11-19", "time=2026-11-18", "time>2026-11-19T08:30:00",
        "site=north,age>42", "age=forty", "none=x", "none<5"}) {
    EXPECT_FALSE(Match(fails, kTags)) << fails;
  }
}

TEST(RowFilter, RowsWithoutTagsMatchOnlyWhatIsExcluded) {
  EXPECT_FALSE(Match("tag=a", ""));
  EXPECT_TRUE(Match("tag!=a", ""));
  EXPECT_FALSE(Match("time<2026-01-01", ""));
}

TEST(RowFilter, AConditionThatMeansNothingIsRefused) {
  for (const auto& [text, why] : {std::pair("", "compares nothing"),
                                  {"tag", "compares nothing"},
                                  {"=a", "no name"},
                                  {"a b=c", "no name"},
                                  {"tag=", "without blanks"},
                                  {"tag=a,", "compares nothing"},
                                  {"tag!a", "! without ="},
                                  {"tag=a;b", "characters ; ,"},
                                  {"tag=a=b", "characters ; ,"},
                                  {"age<old", "need a number"},
                                  {"age<1|2", "more than one value"},
                                  {"time<yesterday", "it is YYYY-MM-DD"},
                                  {"time<2026-02-30", "it is YYYY-MM-DD"}}) {
    const Result<RowFilter> parsed = RowFilter::Parse(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.status().code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(parsed.status().message().find(why), std::string::npos)
        << text << ": " << parsed.status().message();
  }
  EXPECT_FALSE(RowFilter::Parse(std::string(200, ',')).ok());
}

TEST(RowFilter, TagsOfAnotherFormAreRefused) {
  for (const std::string& tags :
       {std::string(";"), std::string("a;"), std::string("a=;b"), std::string("a= b"),
        std::string("a=b|c"), std::string("a=b,c"), std::string("a\n"), std::string("a b=c"),
        std::string("time=noon"), std::string("time=2026-13-01"), std::string(5000, 'x')}) {
    EXPECT_EQ(CheckTags(tags).code(), ErrorCode::kBadData) << tags;
  }
}

TEST(TagTime, IsTheTimeItMeans) {
  const auto day = ParseTagTime("1970-01-02");
  ASSERT_TRUE(day);
  EXPECT_EQ(day->begin, 86400);
  EXPECT_EQ(day->end, 2 * 86400);
  const auto second = ParseTagTime("1969-12-31T23:59:59Z");
  ASSERT_TRUE(second);
  EXPECT_EQ(second->begin, -1);
  EXPECT_EQ(second->end, 0);
  const auto minute = ParseTagTime("2000-02-29 12:34");
  ASSERT_TRUE(minute);
  EXPECT_EQ(minute->begin, 951827640);
  EXPECT_EQ(minute->end, 951827700);
  for (const char* none : {"", "2026", "2026-1-1", "1900-02-29", "0000-01-01", "2026-01-01T24:00",
                           "2026-01-01T10", "2026-01-01T10:60", "2026-01-01x", "20260101"}) {
    EXPECT_FALSE(ParseTagTime(none)) << none;
  }
}

}  // namespace
}  // namespace resmem
