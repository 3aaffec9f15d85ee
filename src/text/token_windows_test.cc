#include "resmem/lm/token_windows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "fixtures/small_memory.h"
#include "support/random.h"

namespace resmem {
namespace {

class Windows : public testing::Test {
 protected:
  // A set whose documents have these many tokens, the end included.
  TokenSet MakeSet(const std::vector<int64_t>& sizes) {
    const std::string path = folder_ / "set";
    auto writer = TokenSetWriter::Create(path, 10, 1);
    EXPECT_TRUE(writer.ok());
    for (const int64_t size : sizes) {
      EXPECT_TRUE(writer->Add(std::vector<int32_t>(static_cast<size_t>(size - 1), 5), "").ok());
    }
    EXPECT_TRUE(writer->Finish("", {}).ok());
    auto set = TokenSet::Open(path);
    EXPECT_TRUE(set.ok()) << set.status().message();
    if (!set.ok()) std::abort();
    return std::move(set).value();
  }

  const fixtures::TemporaryFolder folder_{fixtures::FastParent()};
};

struct KeptRow {
  int64_t position = 0, first_seen = 0;  // the row's token, and the first that its window reads
  bool operator==(const KeptRow&) const = default;
};

// By the words of the definition: lay windows one after the other, keep what is not yet covered.
std::vector<KeptRow> NaiveRows(const TokenSet& set, const WindowShape& shape) {
  std::vector<KeptRow> rows;
  for (int64_t d = 0; d < set.documents(); ++d) {
    const TokenRange document = set.document(d);
    std::vector<bool> covered(static_cast<size_t>(document.size() - 1));
    for (int64_t begin = 0; std::find(covered.begin(), covered.end(), false) != covered.end();
         begin += shape.stride) {
      for (int64_t i = begin; i < begin + shape.length; ++i) {
        if (i >= document.size() - 1 || covered[static_cast<size_t>(i)]) continue;
        covered[static_cast<size_t>(i)] = true;
        rows.push_back({document.begin + i, document.begin + begin});
      }
    }
  }
  return rows;
}

std::vector<KeptRow> RowsOf(const TokenWindows& windows) {
  std::vector<KeptRow> rows;
  for (int64_t w = 0; w < windows.size(); ++w) {
    const TokenWindow window = windows.window(w);
    EXPECT_EQ(window.first_row, static_cast<int64_t>(rows.size()));
    for (int64_t p = window.kept; p < window.end; ++p) rows.push_back({p, window.begin});
  }
  return rows;
}

TEST_F(Windows, KeepWhatTheDefinitionKeeps) {
  Random random(3);
  for (int trial = 0; trial < 60; ++trial) {
    std::vector<int64_t> sizes(1 + random.Below(8));
    for (int64_t& size : sizes) size = 2 + static_cast<int64_t>(random.Below(40));
    const TokenSet set = MakeSet(sizes);
    WindowShape shape;
    shape.length = 1 + static_cast<int64_t>(random.Below(12));
    shape.stride = 1 + static_cast<int64_t>(random.Below(static_cast<uint64_t>(shape.length)));
    const auto windows = TokenWindows::Make(set, shape);
    ASSERT_TRUE(windows.ok());
    EXPECT_EQ(RowsOf(*windows), NaiveRows(set, shape)) << shape.length << "/" << shape.stride;
  }
}

TEST_F(Windows, OfThePaperKeepEveryTokenOnceWithItsContext) {
  std::vector<int64_t> sizes = {2, 65, 256, 257, 258, 448, 449, 450, 1000, 5000};
  const TokenSet set = MakeSet(sizes);
  const auto windows = TokenWindows::Make(set);
  ASSERT_TRUE(windows.ok());
  EXPECT_EQ(windows->rows(), set.size() - set.documents());
  const std::vector<KeptRow> rows = RowsOf(*windows);
  ASSERT_EQ(static_cast<int64_t>(rows.size()), windows->rows());
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto row = static_cast<int64_t>(i);
    const int64_t position = rows[i].position;
    EXPECT_TRUE(i == 0 || position > rows[i - 1].position);
    const int64_t d = set.DocumentAt(position);
    const TokenRange document = set.document(d);
    EXPECT_GE(rows[i].first_seen, document.begin) << "never across documents";
    EXPECT_LT(position + 1, document.end) << "the label is in the document";
    EXPECT_GE(position - rows[i].first_seen, std::min<int64_t>(64, position - document.begin));
    EXPECT_EQ(windows->PositionOfRow(row), position);
    EXPECT_EQ(windows->DocumentOfRow(row), d);
    const TokenWindow window = windows->window(windows->WindowOfRow(row));
    EXPECT_LE(window.kept, position);
    EXPECT_LT(position, window.end);
    EXPECT_LE(window.end - window.begin, 256);
  }
}

TEST_F(Windows, DocumentOfOneWindowIsReadAtOnce) {
  const TokenSet set = MakeSet({257});
  const auto windows = TokenWindows::Make(set);
  ASSERT_TRUE(windows.ok());
  EXPECT_EQ(windows->size(), 1);  // 256 rows; the last token is only a label
}

TEST_F(Windows, RefuseShapesThatLeaveTokensOut) {
  const TokenSet set = MakeSet({10});
  for (const WindowShape shape : {WindowShape{8, 9}, WindowShape{8, 0}, WindowShape{0, 0}}) {
    EXPECT_EQ(TokenWindows::Make(set, shape).status().code(), ErrorCode::kInvalidArgument);
  }
}

TEST(WindowsNote, IsReadAsItWasWritten) {
  const auto shape = ParseWindows(WindowsText({16, 12}));
  ASSERT_TRUE(shape.has_value());
  EXPECT_EQ(shape->length, 16);
  EXPECT_EQ(shape->stride, 12);
  for (const char* other : {"", "16", "16 every ", "16 every 12 ", " every 12", "12 every 16",
                            "16 every 0", "16 every 12.5", "99999999999999999999 every 12"}) {
    EXPECT_FALSE(ParseWindows(other).has_value()) << other;
  }
}

}  // namespace
}  // namespace resmem
