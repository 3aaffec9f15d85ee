#include "search/approximate/lists/list_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/squared_distance.h"
#include "search/approximate/ivf_test_data.h"

namespace resmem {
namespace {

constexpr int64_t kLength = 32, kWanted = 10;

// How many lists each query reads by itself.
std::vector<int64_t> ListsRead(const ListSearch& search, const std::vector<float>& queries,
                               const SearchEffort& effort) {
  std::vector<int64_t> lists;
  for (size_t begin = 0; begin < queries.size(); begin += kLength) {
    const std::vector<Question> question = {{queries.data() + begin, -1, 0}};
    std::vector<std::vector<MeasuredRow>> measured(1);
    SearchWork work;
    EXPECT_TRUE(search.Search(question, effort, 0, /*threads=*/1, measured, &work).ok());
    lists.push_back(work.lists);
  }
  return lists;
}

double Mean(const std::vector<int64_t>& numbers) {
  double sum = 0;
  for (const int64_t number : numbers) sum += static_cast<double>(number);
  return sum / static_cast<double>(numbers.size());
}

class ListChoiceOf : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(keys_.BuildUntried().ok());
    search_ = std::move(keys_.OpenPart().value()[0].search);
  }

  // By the rule of lists/list_choice.h, with true distances in the place of codes.
  int64_t ListsByTheRule(const float* query, double reach) const {
    const InvertedFile& file = search_->file();
    std::vector<std::pair<double, int64_t>> lists;
    for (int64_t list = 0; list < file.lists(); ++list) {
      lists.emplace_back(SquaredDistance(query, file.centroids().centroid(list), kLength), list);
    }
    std::sort(lists.begin(), lists.end());
    std::vector<double> rows;
    int64_t n = 0;
    for (; n < 4 || std::ssize(rows) < 3 * kWanted; ++n) {
      const int64_t list = lists[static_cast<size_t>(n)].second;
      for (int64_t i = 0; i < file.list_rows(list); ++i) {
        const int64_t row = file.row_numbers(list)[i];
        rows.push_back(SquaredDistance(query, keys_.values.data() + row * kLength, kLength));
      }
    }
    std::sort(rows.begin(), rows.end());
    const double kth = rows[kWanted - 1];
    while (n < file.lists() &&
           static_cast<double>(n + 1) * std::pow(lists[static_cast<size_t>(n)].first / kth, 4) <=
               reach) {
      ++n;
    }
    return n;
  }

  Indexed keys_{ClusteredKeys(20000, kLength, 20, 5), kLength};
  const std::vector<float> queries_ = ClusteredKeys(100, kLength, 20, 5);
  std::unique_ptr<ListSearch> search_;
};

TEST_F(ListChoiceOf, AFartherReachReadsMoreListsUntilItReadsAll) {
  double last = 0;
  for (const double reach : {1e-9, 16.0, 64.0, 256.0, 1e300}) {
    const double lists = Mean(ListsRead(*search_, queries_, {kWanted, reach, 8, 20}));
    EXPECT_GT(lists, last) << reach;
    last = lists;
  }
  EXPECT_EQ(last, static_cast<double>(search_->file().lists()));
}

TEST_F(ListChoiceOf, EveryQueryGoesAsFarAsTheRuleSays) {
  constexpr double kReach = 64;
  const std::vector<int64_t> lists = ListsRead(*search_, queries_, {kWanted, kReach, 8, 20});
  EXPECT_NE(lists, std::vector<int64_t>(lists.size(), lists[0]));
  double difference = 0;  // codes are not true distances
  std::vector<int64_t> expected;
  for (size_t q = 0; q < lists.size(); ++q) {
    expected.push_back(ListsByTheRule(queries_.data() + q * kLength, kReach));
    difference += std::abs(static_cast<double>(lists[q] - expected[q]));
  }
  EXPECT_LT(difference / static_cast<double>(lists.size()), 0.05 * Mean(expected));
}

TEST_F(ListChoiceOf, WithoutAReachEveryQueryReadsAsManyLists) {
  const auto lists = ListsRead(*search_, queries_, {kWanted, 0, 30, 20});
  EXPECT_EQ(lists, std::vector<int64_t>(lists.size(), 30));
}

// What batches are cut by: a query may go through all lists where rows are hidden.
TEST_F(ListChoiceOf, WhereRowsAreHiddenCandidatesCountEveryListThatMayBeRead) {
  const SearchEffort effort = {kWanted, 1, 5, 20};
  const int64_t before = search_->Candidates(effort), lists = search_->file().lists();
  for (int64_t row = 0; row < keys_.rows; row += 3) {
    keys_.hidden.push_back(row);
    keys_.hidden.push_back(row + 1);
  }
  const std::unique_ptr<ListSearch> thinned = std::move(keys_.OpenPart().value()[0].search);
  EXPECT_EQ(thinned->Candidates(effort) - before, 3 * (lists - 10));
  const auto read = ListsRead(*thinned, queries_, effort);
  EXPECT_EQ(*std::ranges::max_element(read), lists);
}

}  // namespace
}  // namespace resmem
