#include <gtest/gtest.h>

#include <numeric>

#include "fixtures/file_bytes.h"
#include "fixtures/small_memory.h"
#include "format/container_reader.h"
#include "format/container_writer.h"
#include "format/format.h"
#include "resmem_program/memory_format.h"

namespace resmem {
namespace {

// What is told in public is what is written.
static_assert(kMemoryFormatVersion == kFormatVersion);

FileSystem& Files() {
  return FileSystem::Posix();
}

Result<ContainerWriter> NewSegment(const std::string& path, std::vector<SectionShape> sections) {
  return ContainerWriter::Create(Files(), path, FileKind::kSegment, std::move(sections));
}

TEST(Container, SectionsAppendedInTurnsAreReadBackWhole) {
  const fixtures::TemporaryFolder folder;
  const std::string path = folder / "x";
  const int64_t rows = 700000;  // several blocks, the last one not full
  std::vector<uint32_t> numbers(static_cast<size_t>(rows));
  std::iota(numbers.begin(), numbers.end(), 0);
  std::vector<float> halves(numbers.begin(), numbers.end());

  auto writer = NewSegment(path, {{"numbers", StoredType::kU32, rows, 1},
                                  {"empty", StoredType::kU8, 0, 7},
                                  {"halves", StoredType::kF32, rows / 2, 2}});
  ASSERT_TRUE(writer.ok());
  size_t step = 1;
  for (size_t begin = 0; begin < numbers.size(); begin += step, step = step * 3 + 1) {
    const size_t size = std::min(step, numbers.size() - begin);
    ASSERT_TRUE(writer->AppendValues<uint32_t>(0, {numbers.data() + begin, size}).ok());
    ASSERT_TRUE(writer->AppendValues<float>(2, {halves.data() + begin, size}).ok());
  }
  const auto finished = writer->Finish();
  ASSERT_TRUE(finished.ok());

  const auto reader = ContainerReader::Open(Files(), path, FileKind::kSegment);
  ASSERT_TRUE(reader.ok()) << reader.status().message();
  EXPECT_EQ(reader->header_hash(), finished->header_hash);
  EXPECT_EQ(reader->file_bytes(), finished->file_bytes);
  EXPECT_TRUE(reader->VerifyBlocks().ok());
  ASSERT_EQ(reader->sections().size(), 3u);
  EXPECT_TRUE(std::ranges::equal(reader->Values<uint32_t>(0), numbers));
  EXPECT_TRUE(reader->Values<uint8_t>(1).empty());
  EXPECT_TRUE(std::ranges::equal(reader->Values<float>(2), halves));
  for (const auto& section : reader->sections()) EXPECT_EQ(section.offset % kAlignment, 0);
}

TEST(Container, BytesDoNotDependOnHowTheyWereAppended) {
  const fixtures::TemporaryFolder folder;
  const std::string text(3 * kBlockBytes + 17, 'q');
  for (const size_t step : {size_t{1000003}, text.size()}) {
    auto writer = NewSegment(folder / std::to_string(step),
                             {{"text", StoredType::kU8, ContainerWriter::kAsAppended, 1}});
    ASSERT_TRUE(writer.ok());
    for (size_t begin = 0; begin < text.size(); begin += step) {
      ASSERT_TRUE(writer->Append(0, fixtures::AsBytes(text.substr(begin, step))).ok());
    }
    ASSERT_TRUE(writer->Finish().ok());
  }
  const std::string small = fixtures::ReadBytes(folder / "1000003");
  EXPECT_EQ(small, fixtures::ReadBytes(folder / std::to_string(text.size())));
  EXPECT_EQ(small.substr(64 + 2 * 64, text.size()), text);
}

TEST(Container, NothingIsLeftWithoutFinish) {
  const fixtures::TemporaryFolder folder;
  {
    auto writer = NewSegment(folder / "x", {{"text", StoredType::kU8, 2, 1}});
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(writer->Append(0, fixtures::AsBytes("a")).ok());
    EXPECT_EQ(Files().List(folder / "").value().size(), 1u);
  }
  EXPECT_TRUE(Files().List(folder / "").value().empty());
}

TEST(Container, MoreThanAFileCanHoldIsRefusedBeforeAnythingIsWritten) {
  const fixtures::TemporaryFolder folder;
  const int64_t huge = INT64_MAX / 4;
  for (const SectionShape& shape : {SectionShape{"keys", StoredType::kF32, huge, 2},
                                    SectionShape{"keys", StoredType::kF32, huge + 1, 1},
                                    SectionShape{"keys", StoredType::kU8, INT64_MAX, 1}}) {
    EXPECT_EQ(NewSegment(folder / "x", {shape}).status().code(), ErrorCode::kInvalidArgument);
  }
  EXPECT_TRUE(Files().List(folder / "").value().empty());
}

TEST(DigestFile, IsTheKnownXxh3OfTheBytes) {
  const fixtures::TemporaryFolder folder;
  fixtures::WriteBytes(folder / "empty", "");
  // XXH3_128bits("", 0), from the specification's test vectors.
  EXPECT_EQ(DigestFile(folder / "empty").value(), "99aa06d3014798d86001c324468d497f");
  fixtures::WriteBytes(folder / "a", "a");
  fixtures::WriteBytes(folder / "b", "b");
  EXPECT_NE(DigestFile(folder / "a").value(), DigestFile(folder / "b").value());
  EXPECT_EQ(DigestFile(folder / "none").status().code(), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace resmem
