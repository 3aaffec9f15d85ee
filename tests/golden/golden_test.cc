// Files of version 1 open for ever and answer as on the day they were written.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "fixtures/small_memory.h"
#include "golden/golden_memories.h"
#include "resmem/snapshots.h"
#include "resmem_program/edit_stream.h"

namespace resmem {
namespace {

// Words must be equal, numbers within the rounding of another arithmetic.
void ExpectSameAnswers(const std::string& found, const std::string& recorded) {
  std::istringstream found_words(found), recorded_words(recorded);
  std::string a, b;
  int64_t words = 0;
  while (recorded_words >> b) {
    ASSERT_TRUE(found_words >> a) << "the answers end before " << b;
    ++words;
    char* end_a = nullptr;
    char* end_b = nullptr;
    const double x = std::strtod(a.c_str(), &end_a), y = std::strtod(b.c_str(), &end_b);
    if (*end_a == '\0' && *end_b == '\0') {
      ASSERT_NEAR(x, y, 1e-6) << "word " << words;
    } else {
      ASSERT_EQ(a, b) << "word " << words;
    }
  }
  EXPECT_FALSE(found_words >> a) << "there is more: " << a;
  EXPECT_GT(words, 50);
}

class GoldenMemory : public testing::TestWithParam<std::string> {};

TEST_P(GoldenMemory, OfVersionOneOpensAndGivesTheRecordedNumbers) {
  const std::string base = std::string(RESMEM_GOLDEN) + "/v1/" + GetParam();
  const auto memory = ResidualMemory::Open(base + ".resmem");
  ASSERT_TRUE(memory.ok()) << memory.status().message();
  EXPECT_TRUE(memory->Verify().ok());
  std::ifstream file(base + ".txt");
  std::ostringstream recorded;
  recorded << file.rdbuf();
  ExpectSameAnswers(AnswersOf(*memory), recorded.str());
}

INSTANTIATE_TEST_SUITE_P(, GoldenMemory, testing::ValuesIn(GoldenNames()),
                         [](const auto& golden) { return golden.param; });

TEST(GoldenSnapshot, OfVersionOneIsListedAndGoneBackTo) {
  const fixtures::TemporaryFolder folder;
  const std::string path = folder / "versions.resmem";
  std::filesystem::copy(std::string(RESMEM_GOLDEN) + "/v1/versions.resmem", path,
                        std::filesystem::copy_options::recursive);
  const auto list = ListSnapshots(path);
  ASSERT_TRUE(list.ok()) << list.status().message();
  ASSERT_EQ(list->snapshots.size(), 1u);
  EXPECT_EQ(list->snapshots[0].name, "whole");
  EXPECT_EQ(list->snapshots[0].note, "of six rows");
  EXPECT_EQ(list->snapshots[0].rows, 6);
  EXPECT_EQ(fixtures::Open(path).rows(), 5);
  ASSERT_TRUE(RollBack(path, "whole").ok());
  EXPECT_EQ(fixtures::Open(path).rows(), 6);
}

TEST(GoldenStream, OfVersionOneTellsItsPosition) {
  const auto position =
      PositionOf(fixtures::Open(std::string(RESMEM_GOLDEN) + "/v1/streamed.resmem"));
  ASSERT_TRUE(position.has_value());
  EXPECT_EQ(position->stream, "resmem-golden");
  EXPECT_EQ(position->created, 1795128357516609009);
  EXPECT_EQ(position->sequence, 12);
  EXPECT_EQ(position->shard * 10 + position->shards, 24);
  ASSERT_EQ(position->named.size(), 1u);
  EXPECT_EQ(position->named[0].token, "week47");
  EXPECT_EQ(position->named[0].sequence, 11);
}

}  // namespace
}  // namespace resmem
