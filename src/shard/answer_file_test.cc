#include "shard/answer_file.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "fixtures/small_memory.h"

namespace resmem {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const std::string kSomeDigest(32, 'a');

class AnswerFileTest : public testing::Test {
 protected:
  static Neighbors Two(std::vector<int64_t> rows, std::vector<double> squared) {
    Neighbors found{1, static_cast<int64_t>(rows.size()), std::move(rows), {}, std::move(squared)};
    for (const double square : found.squared) {
      found.distances.push_back(static_cast<float>(std::sqrt(square)));
    }
    return found;
  }
  Status Write(const AnswerHeader& header, const std::vector<Neighbors>& lines) {
    auto writer = AnswerWriter::Create(path_, header);
    if (!writer.ok()) return writer.status();
    for (const Neighbors& line : lines) RESMEM_RETURN_IF_ERROR(writer->Add(line));
    return writer->Finish();
  }
  // Of one query with two neighbors in a memory of ten rows.
  ErrorCode OpenedWith(std::vector<int64_t> rows, std::vector<double> squared) {
    EXPECT_TRUE(Write({kSomeDigest, 1, kSomeDigest, 10, 2, 1}, {Two(rows, squared)}).ok());
    return AnswerFile::Open(path_).status().code();
  }

  fixtures::TemporaryFolder folder_{fixtures::FastParent()};
  const std::string path_ = folder_ / "a.answers";
};

TEST_F(AnswerFileTest, GivesBackWhatWasWritten) {
  const AnswerHeader header{kSomeDigest, 3, std::string(32, 'b'), 10, 3, 2};
  const Neighbors first = Two({7, 0, 9}, {0.25, 2, 2}),
                  second = Two({4, -1, -1}, {1, kInfinity, kInfinity});
  ASSERT_TRUE(Write(header, {first, second}).ok());
  const auto file = AnswerFile::Open(path_);
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(file->header(), header);
  Neighbors read;
  ASSERT_TRUE(file->Read(0, 2, 3, &read).ok());
  EXPECT_EQ(read.rows, (std::vector<int64_t>{7, 0, 9, 4, -1, -1}));
  EXPECT_EQ(read.squared, (std::vector<double>{0.25, 2, 2, 1, kInfinity, kInfinity}));
  EXPECT_EQ(read.distances[0], 0.5f);
  ASSERT_TRUE(file->Read(0, 1, 2, &read).ok());
  EXPECT_EQ(read.rows, (std::vector<int64_t>{7, 0}));
  EXPECT_EQ(file->Read(1, 2, 3, &read).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(file->Read(0, 1, 4, &read).code(), ErrorCode::kInvalidArgument);
}

TEST_F(AnswerFileTest, RefusesNeighborsThatCannotBe) {
  EXPECT_EQ(OpenedWith({0, 1}, {1, 2}), ErrorCode::kOk);
  EXPECT_EQ(OpenedWith({0, 1}, {1, 1}), ErrorCode::kOk);
  EXPECT_EQ(OpenedWith({0, -1}, {1, kInfinity}), ErrorCode::kOk);
  EXPECT_EQ(OpenedWith({1, 0}, {1, 1}), ErrorCode::kCorrupt);   // ties go by row
  EXPECT_EQ(OpenedWith({0, 1}, {2, 1}), ErrorCode::kCorrupt);   // the farther one first
  EXPECT_EQ(OpenedWith({3, 3}, {1, 2}), ErrorCode::kCorrupt);   // twice
  EXPECT_EQ(OpenedWith({0, 10}, {1, 2}), ErrorCode::kCorrupt);  // no such row
  EXPECT_EQ(OpenedWith({0, 1}, {-1, 2}), ErrorCode::kCorrupt);
  EXPECT_EQ(OpenedWith({0, 1}, {1, std::nan("")}), ErrorCode::kCorrupt);
  EXPECT_EQ(OpenedWith({0, 1}, {1, kInfinity}), ErrorCode::kCorrupt);
  EXPECT_EQ(OpenedWith({0, -1}, {1, 2}), ErrorCode::kCorrupt);          // absent, yet at a distance
  EXPECT_EQ(OpenedWith({-1, 0}, {kInfinity, 1}), ErrorCode::kCorrupt);  // after the end
}

TEST_F(AnswerFileTest, AnyFlippedBitIsNoticed) {
  ASSERT_TRUE(Write({kSomeDigest, 1, kSomeDigest, 10, 2, 1}, {Two({0, 1}, {1, 2})}).ok());
  std::string bytes;
  {
    const auto map = FileSystem::Posix().Map(path_);
    bytes.assign(reinterpret_cast<const char*>(map->bytes().data()), map->bytes().size());
  }
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string flipped = bytes;
    flipped[i] = static_cast<char>(flipped[i] ^ (1 << (i % 8)));
    ASSERT_TRUE(WriteFileAtomically(FileSystem::Posix(), path_,
                                    std::as_bytes(std::span<const char>(flipped)))
                    .ok());
    EXPECT_FALSE(AnswerFile::Open(path_).ok()) << "byte " << i;
  }
}

}  // namespace
}  // namespace resmem
