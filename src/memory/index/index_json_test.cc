#include "memory/index/index_json.h"

#include <gtest/gtest.h>

namespace resmem {
namespace {

Manifest OneSegment() {
  Manifest manifest;
  manifest.generation = 2;
  manifest.segments = {{"segment-000001.resmem", 100, 4096, 1}};
  return manifest;
}

Json WithEfforts(Json efforts) {
  return {{"recall", 0.95},
          {"seed", 1u},
          {"parts",
           {{{"file", "index-000002.resmem"},
             {"rows", 100u},
             {"bytes", 4096u},
             {"header_hash", "0123456789abcdef"},
             {"efforts", std::move(efforts)}}}}};
}

Json Effort(uint64_t k) {
  return {{"k", k}, {"reach", 16.5}, {"lists", 8u}, {"depth", k}, {"recall", 0.96}};
}

TEST(IndexJson, WhatIsWrittenIsRead) {
  const auto read = IndexFromJson(WithEfforts({Effort(16), Effort(1024)}), OneSegment());
  ASSERT_TRUE(read.ok()) << read.status().message();
  const auto again = IndexFromJson(Json::parse(IndexToJson(*read).dump()), OneSegment());
  ASSERT_TRUE(again.ok()) << again.status().message();
  const SearchEffort& effort = again->parts.at(0).efforts.at(0).effort;
  EXPECT_EQ(effort.reach, 16.5);
  EXPECT_EQ(effort.lists, 8);
  EXPECT_EQ(effort.depth, 16);
}

TEST(IndexJson, AnEffortFromBeforeThereWasAReachIsANumberOfLists) {
  Json few = {{"k", 16u}, {"probes", 9u}, {"depth", 20u}, {"recall", 0.953}};
  Json many = {{"k", 1024u}, {"probes", 40u}, {"depth", 2048u}, {"recall", 0.95}};
  const auto read = IndexFromJson(WithEfforts({few, many}), OneSegment());
  ASSERT_TRUE(read.ok()) << read.status().message();
  const MeasuredEffort& effort = read->parts.at(0).efforts.at(0);
  EXPECT_EQ(effort.effort.reach, 0);
  EXPECT_EQ(effort.effort.lists, 9);
  EXPECT_EQ(effort.effort.depth, 20);
  EXPECT_FALSE(effort.exact);
}

TEST(IndexJson, EffortsThatCannotBeAreRefused) {
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, Json>>{{"reach", -1},
                                                 {"reach", "far"},
                                                 {"reach", nullptr},
                                                 {"reach", 1e301},
                                                 {"lists", 0u},
                                                 {"lists", uint64_t{1} << 40},
                                                 {"depth", 15u},
                                                 {"k", 0u},
                                                 {"recall", 1.5}}) {
    Json effort = Effort(16);
    effort[name] = value;
    const auto read = IndexFromJson(WithEfforts({effort, Effort(1024)}), OneSegment());
    EXPECT_EQ(read.status().code(), ErrorCode::kCorrupt) << name << " " << value;
  }
}

TEST(IndexJson, AnObstacleIsReadAsItWasWrittenOrRefused) {
  Json json = WithEfforts({Effort(1024)});
  EXPECT_FALSE(IndexFromJson(json, OneSegment())->obstacle.has_value());
  json["obstacle"] = nullptr;
  EXPECT_FALSE(IndexFromJson(json, OneSegment())->obstacle.has_value());
  json["obstacle"] = {{"rows", 40u}, {"why", "too far"}, {"ids", {7u, 9u}}};
  const auto read = IndexFromJson(json, OneSegment());
  const auto again = IndexFromJson(Json::parse(IndexToJson(*read).dump()), OneSegment());
  ASSERT_TRUE(again.ok() && again->obstacle.has_value());
  EXPECT_EQ(again->obstacle->rows, 40);
  EXPECT_EQ(again->obstacle->why, "too far");
  EXPECT_EQ(again->obstacle->ids, (std::vector<uint64_t>{7, 9}));
  for (const Json& wrong : {Json(5), Json{{"rows", 40u}, {"why", "too far"}},
                            Json{{"rows", 40u}, {"why", 3}, {"ids", {}}},
                            Json{{"rows", 40u}, {"why", "too far"}, {"ids", {"seven"}}}}) {
    json["obstacle"] = wrong;
    EXPECT_EQ(IndexFromJson(json, OneSegment()).status().code(), ErrorCode::kCorrupt) << wrong;
  }
}

}  // namespace
}  // namespace resmem
