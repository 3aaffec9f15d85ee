// Every byte of a small container falsified, every length cut, and the lies that a header can
// tell with a right checksum.
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "fixtures/file_bytes.h"
#include "fixtures/small_memory.h"
#include "format/container_reader.h"
#include "format/container_writer.h"

namespace resmem {
namespace {

class CorruptContainer : public testing::Test {
 protected:
  void SetUp() override {
    auto writer = ContainerWriter::Create(FileSystem::Posix(), path_, FileKind::kSegment,
                                          {{"keys", StoredType::kF32, 5, 3},
                                           {"half", StoredType::kF16, 3, 1},
                                           {"text", StoredType::kU8, 70, 1}});
    ASSERT_TRUE(writer.ok());
    const std::vector<float> keys(15, 1.5f);
    const std::vector<uint16_t> half(3, 0x3c00);
    ASSERT_TRUE(writer->AppendValues<float>(0, keys).ok());
    ASSERT_TRUE(writer->AppendValues<uint16_t>(1, half).ok());
    ASSERT_TRUE(writer->Append(2, fixtures::AsBytes(std::string(70, 't'))).ok());
    ASSERT_TRUE(writer->Finish().ok());
    good_ = fixtures::ReadBytes(path_);
    ASSERT_TRUE(Read(good_).ok());
  }

  Status Read(const std::string& bytes) {
    fixtures::WriteBytes(path_, bytes);
    const auto reader = ContainerReader::Open(FileSystem::Posix(), path_, FileKind::kSegment);
    return reader.ok() ? reader->VerifyBlocks() : reader.status();
  }

  const fixtures::TemporaryFolder folder_{fixtures::FastParent()};
  const std::string path_ = folder_ / "x";
  std::string good_;
};

TEST_F(CorruptContainer, EveryFlippedByteIsRefused) {
  for (size_t i = 0; i < good_.size(); ++i) {
    std::string bytes = good_;
    bytes[i] = static_cast<char>(bytes[i] ^ (1 << (i % 8)));
    const Status status = Read(bytes);
    EXPECT_TRUE(status.code() == ErrorCode::kCorrupt || status.code() == ErrorCode::kTooNew)
        << "byte " << i << ": " << status.message();
    EXPECT_NE(status.message().find(path_), std::string::npos);
  }
}

TEST_F(CorruptContainer, EveryOtherLengthIsRefused) {
  for (size_t size = 0; size < good_.size(); ++size) {
    EXPECT_EQ(Read(good_.substr(0, size)).code(), ErrorCode::kCorrupt) << size << " bytes";
  }
  EXPECT_EQ(Read(good_ + '\0').code(), ErrorCode::kCorrupt);
}

TEST_F(CorruptContainer, EveryLieWithARightHeaderChecksumIsRefused) {
  constexpr uint64_t kHuge = std::numeric_limits<uint64_t>::max();
  const std::vector<std::pair<const char*, std::function<void(std::string&)>>> lies = {
      {"another kind", [](auto& b) { fixtures::HeaderOf(b).kind = 1; }},
      {"no version", [](auto& b) { fixtures::HeaderOf(b).version = 0; }},
      {"no sections", [](auto& b) { fixtures::HeaderOf(b).section_count = 0; }},
      {"fewer sections", [](auto& b) { fixtures::HeaderOf(b).section_count = 3; }},
      {"fewer sections, header to match",
       [](auto& b) {
         fixtures::HeaderOf(b).section_count = 3;
         fixtures::HeaderOf(b).header_bytes = 64 + 3 * 64;
       }},
      {"more sections than fit",
       [](auto& b) {
         fixtures::HeaderOf(b).section_count = 65;
         fixtures::HeaderOf(b).header_bytes = 64 + 65 * 64;
       }},
      {"header past the end",
       [](auto& b) {
         fixtures::HeaderOf(b).section_count = 60;
         fixtures::HeaderOf(b).header_bytes = 64 + 60 * 64;
       }},
      {"sections overflow", [](auto& b) { fixtures::HeaderOf(b).section_count = 0xffffffffu; }},
      {"another file size", [](auto& b) { ++fixtures::HeaderOf(b).file_bytes; }},
      {"reserved in use", [](auto& b) { fixtures::HeaderOf(b).zero[1] = 1; }},
      {"wrong list hash", [](auto& b) { ++fixtures::HeaderOf(b).checksums_hash; }},
      {"no name", [](auto& b) { fixtures::EntryOf(b, 0).name[0] = 0; }},
      {"an odd name", [](auto& b) { fixtures::EntryOf(b, 0).name[0] = '/'; }},
      {"a name after the zeros", [](auto& b) { fixtures::EntryOf(b, 0).name[9] = 'x'; }},
      {"a name without end", [](auto& b) { std::memset(fixtures::EntryOf(b, 0).name, 'x', 16); }},
      {"the same name twice",
       [](auto& b) { std::memcpy(fixtures::EntryOf(b, 1).name, "keys", 5); }},
      {"no such type", [](auto& b) { fixtures::EntryOf(b, 0).type = 99; }},
      {"type of another width", [](auto& b) { fixtures::EntryOf(b, 0).type = 6; }},
      {"reserved a", [](auto& b) { fixtures::EntryOf(b, 0).zero_a = 1; }},
      {"reserved b", [](auto& b) { fixtures::EntryOf(b, 0).zero_b = 1; }},
      {"more rows", [](auto& b) { ++fixtures::EntryOf(b, 0).rows; }},
      {"rows that overflow", [](auto& b) { fixtures::EntryOf(b, 0).rows = kHuge; }},
      {"a product that overflows to the right size",
       [](auto& b) {
         fixtures::EntryOf(b, 0).rows = (uint64_t{1} << 62) + 5;
         fixtures::EntryOf(b, 0).columns = 3;
       }},
      {"no columns",
       [](auto& b) {
         fixtures::EntryOf(b, 1).columns = 0;
         fixtures::EntryOf(b, 1).bytes = 0;
       }},
      {"bytes past the end",
       [](auto& b) {
         fixtures::EntryOf(b, 0).rows = 5000;
         fixtures::EntryOf(b, 0).bytes = 60000;
       }},
      {"bytes that overflow",
       [](auto& b) {
         fixtures::EntryOf(b, 0).rows = kHuge / 2;
         fixtures::EntryOf(b, 0).columns = 1;
         fixtures::EntryOf(b, 0).bytes = kHuge / 2 * 4;
       }},
      {"overlapping sections",
       [](auto& b) { fixtures::EntryOf(b, 1).offset = fixtures::EntryOf(b, 0).offset; }},
      {"not aligned", [](auto& b) { ++fixtures::EntryOf(b, 1).offset; }},
      {"descending offsets",
       [](auto& b) { std::swap(fixtures::EntryOf(b, 0).offset, fixtures::EntryOf(b, 1).offset); }},
      {"a gap", [](auto& b) { fixtures::EntryOf(b, 1).offset += 64; }},
      {"offset past the end", [](auto& b) { fixtures::EntryOf(b, 2).offset = kHuge - 63; }},
      {"fewer checksums",
       [](auto& b) {
         fixtures::EntryOf(b, 3).rows = 2;
         fixtures::EntryOf(b, 3).bytes = 16;
       }},
      {"checksums of another name", [](auto& b) { fixtures::EntryOf(b, 3).name[0] = 'd'; }},
  };
  for (const auto& [name, tell] : lies) {
    std::string bytes = good_;
    tell(bytes);
    fixtures::ResealHeader(bytes);
    const Status status = Read(bytes);
    EXPECT_EQ(status.code(), ErrorCode::kCorrupt) << name << ": " << status.message();
  }
}

TEST_F(CorruptContainer, ALaterVersionIsTooNew) {
  fixtures::HeaderOf(good_).version = 2;
  fixtures::ResealHeader(good_);
  EXPECT_EQ(Read(good_).code(), ErrorCode::kTooNew);
}

TEST_F(CorruptContainer, PaddingAndInfinitiesWithRightChecksumsAreRefused) {
  fixtures::ResealAll(good_);
  ASSERT_TRUE(Read(good_).ok());
  std::string padded = good_;
  padded[fixtures::EntryOf(padded, 0).offset + 63] = 1;
  fixtures::ResealAll(padded);
  EXPECT_NE(Read(padded).message().find("padding"), std::string::npos);
  for (const size_t section : {0, 1}) {
    std::string infinite = good_;
    const uint64_t offset = fixtures::EntryOf(infinite, section).offset;
    const uint32_t bits = section == 0 ? 0x7fc00001u : 0x0000fc00u;
    std::memcpy(infinite.data() + offset, &bits, section == 0 ? 4 : 2);
    fixtures::ResealAll(infinite);
    EXPECT_NE(Read(infinite).message().find("not finite"), std::string::npos);
  }
}

}  // namespace
}  // namespace resmem
