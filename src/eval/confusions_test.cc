#include "eval/confusions.h"

#include <gtest/gtest.h>

namespace resmem {
namespace {

TEST(ConfusionCounts, CountsWrongAnswersOfBothAndPutsTheMostFrequentFirst) {
  std::vector<GroupResult> classes(3);
  classes[0].name = "cat";
  classes[1].name = "dog";
  classes[2].name = "cow";
  ConfusionCounts counts;
  counts.Add(0, 0, 0);  // both right
  counts.Add(0, 1, 0);  // fixed
  counts.Add(0, 1, 1);  // both wrong
  counts.Add(2, 2, 0);  // harmed
  counts.Add(1, 2, 0);  // wrong in two ways
  const std::vector<Confusion> all = counts.Most(10, classes);
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].label + " " + all[0].answer, "cat dog");
  EXPECT_EQ(all[0].base, 2);
  EXPECT_EQ(all[0].resmem, 1);
  EXPECT_EQ(all[1].label + " " + all[1].answer, "dog cat");  // a tie goes to the smaller label
  EXPECT_EQ(all[1].base, 0);
  EXPECT_EQ(all[1].resmem, 1);
  EXPECT_EQ(all[2].label + " " + all[2].answer, "dog cow");
  EXPECT_EQ(all[3].label + " " + all[3].answer, "cow cat");
  EXPECT_EQ(counts.Most(1, classes).size(), 1u);
}

}  // namespace
}  // namespace resmem
