#include "resmem/lm/token_set.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>

#include "fixtures/file_bytes.h"
#include "fixtures/small_memory.h"
#include "support/random.h"
#include "text/token_set_file.h"

namespace resmem {
namespace {

using Documents = std::vector<std::vector<int32_t>>;
constexpr int32_t kEnd = 1;

Status WriteSet(const std::string& path, int64_t vocabulary_size, const Documents& documents) {
  RESMEM_ASSIGN_OR_RETURN(TokenSetWriter writer,
                          TokenSetWriter::Create(path, vocabulary_size, kEnd));
  for (size_t i = 0; i < documents.size(); ++i) {
    RESMEM_RETURN_IF_ERROR(writer.Add(documents[i], i == 1 ? "" : "title " + std::to_string(i)));
  }
  TextCounts counts;
  counts.documents = static_cast<int64_t>(documents.size());
  counts.nul_bytes = 7;
  return writer.Finish("0123", counts);
}

Documents RandomDocuments(int64_t vocabulary_size, size_t count, size_t longest) {
  Random random(5);
  Documents documents(count);
  for (auto& document : documents) {
    document.resize(1 + random.Below(longest));
    for (int32_t& id : document) {
      id = static_cast<int32_t>(random.Below(static_cast<uint64_t>(vocabulary_size)));
    }
  }
  return documents;
}

TEST(TokenSet, GivesBackEveryDocumentWithItsEndAndTitle) {
  const fixtures::TemporaryFolder folder;
  for (const int64_t vocabulary_size : {int64_t{2}, int64_t{65536}, int64_t{65537}}) {
    const Documents documents = RandomDocuments(vocabulary_size, 300, 9000);
    const Status written = WriteSet(folder / "set", vocabulary_size, documents);
    ASSERT_TRUE(written.ok()) << written.message();
    const auto set = TokenSet::Open(folder / "set");
    ASSERT_TRUE(set.ok()) << set.status().message();
    EXPECT_EQ(set->vocabulary_size(), vocabulary_size);
    EXPECT_EQ(set->end_id(), kEnd);
    EXPECT_EQ(set->description().tokenizer, "0123");
    EXPECT_EQ(set->description().text.nul_bytes, 7);
    ASSERT_EQ(set->documents(), 300);
    int64_t position = 0;
    for (int64_t i = 0; i < set->documents(); ++i) {
      std::vector<int32_t> expected = documents[static_cast<size_t>(i)];
      expected.push_back(kEnd);
      const TokenRange range = set->document(i);
      EXPECT_EQ(range.begin, position);
      ASSERT_EQ(range.size(), static_cast<int64_t>(expected.size()));
      std::vector<int32_t> ids(expected.size());
      set->Read(range.begin, ids);
      EXPECT_EQ(ids, expected);
      std::vector<int64_t> wide(expected.size());
      set->Read(range.begin, wide);
      EXPECT_TRUE(std::ranges::equal(wide, expected));
      EXPECT_EQ(set->id(range.begin), expected.front());
      EXPECT_EQ(set->DocumentAt(range.begin), i);
      EXPECT_EQ(set->DocumentAt(range.end - 1), i);
      EXPECT_EQ(set->title(i), i == 1 ? "" : "title " + std::to_string(i));
      position = range.end;
    }
    EXPECT_EQ(set->size(), position);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / ""), {}), 1)
        << "the file of ids must be gone";
  }
}

TEST(TokenSet, TakesTwoBytesATokenWhereTheVocabularyAllows) {
  const fixtures::TemporaryFolder folder;
  const Documents documents = {std::vector<int32_t>(50000, 3)};
  ASSERT_TRUE(WriteSet(folder / "narrow", 65536, documents).ok());
  ASSERT_TRUE(WriteSet(folder / "wide", 65537, documents).ok());
  EXPECT_LT(std::filesystem::file_size(folder / "narrow"), 2 * 50001 + 1000u);
  EXPECT_GT(std::filesystem::file_size(folder / "wide"), 4 * 50001u);
}

TEST(TokenSet, RefusesDocumentsThatCannotBeWritten) {
  const fixtures::TemporaryFolder folder;
  EXPECT_EQ(WriteSet(folder / "set", 10, {{3}, {}}).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(WriteSet(folder / "set", 10, {{3, 10}}).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(WriteSet(folder / "set", 10, {{-1}}).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(WriteSet(folder / "set", 1, {{0}}).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(WriteSet(folder / "set", 10, {}).code(), ErrorCode::kBadData);
  EXPECT_FALSE(WriteSet(folder / "none/set", 10, {{3}}).ok());
  EXPECT_TRUE(std::filesystem::is_empty(folder / ""));
}

class HostileTokenSet : public testing::Test {
 protected:
  HostileTokenSet() {
    EXPECT_TRUE(WriteSet(path_, 100, {{5, 6, 7}, {8}}).ok());  // 5 6 7 1 8 1
    bytes_ = fixtures::ReadBytes(path_);
  }
  template <typename T>
  T* Values(size_t section) {
    return reinterpret_cast<T*>(bytes_.data() + fixtures::EntryOf(bytes_, section).offset);
  }
  // After a forger has made all checksums right again.
  Status OpenForged() {
    fixtures::ResealAll(bytes_);
    fixtures::WriteBytes(path_, bytes_);
    return TokenSet::Open(path_).status();
  }
  void ExpectCorrupt(const std::string& part) {
    const Status status = OpenForged();
    EXPECT_EQ(status.code(), ErrorCode::kCorrupt) << status.message();
    EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
  }

  const fixtures::TemporaryFolder folder_{fixtures::FastParent()};
  const std::string path_ = folder_ / "set";
  std::string bytes_;
};

TEST_F(HostileTokenSet, ResealedWithoutAChangeItOpens) {
  EXPECT_TRUE(OpenForged().ok());
}

TEST_F(HostileTokenSet, IdOutsideTheVocabularyIsCorrupt) {
  Values<uint16_t>(kIds)[1] = 100;
  ExpectCorrupt("token 1 is 100, but the vocabulary has 100");
}

TEST_F(HostileTokenSet, DocumentWithoutItsEndIsCorrupt) {
  Values<uint16_t>(kIds)[3] = 2;
  ExpectCorrupt("a document of tokens 0 to 4");
}

TEST_F(HostileTokenSet, DocumentBeyondTheFileIsCorrupt) {
  Values<uint64_t>(kDocumentEnds)[1] = UINT64_MAX;
  ExpectCorrupt("a document of tokens 4 to");
}

TEST_F(HostileTokenSet, DescendingDocumentsAreCorrupt) {
  Values<uint64_t>(kDocumentEnds)[0] = 6;
  Values<uint64_t>(kDocumentEnds)[1] = 4;
  ExpectCorrupt("a document of tokens 6 to 4");
}

TEST_F(HostileTokenSet, TokensAfterTheLastDocumentAreCorrupt) {
  Values<uint16_t>(kIds)[1] = kEnd;
  Values<uint64_t>(kDocumentEnds)[0] = 2;
  Values<uint64_t>(kDocumentEnds)[1] = 4;
  ExpectCorrupt("the documents end at token 4, but there are 6");
}

TEST_F(HostileTokenSet, TitleOffsetsThatLeaveTheTitlesAreCorrupt) {
  Values<uint64_t>(kTitleOffsets)[1] = 1 << 20;
  ExpectCorrupt("offsets of the titles");
}

TEST_F(HostileTokenSet, DescriptionThatIsNotJsonIsCorrupt) {
  Values<char>(kDescription)[0] = '[';
  ExpectCorrupt("JSON");
}

TEST_F(HostileTokenSet, FlippedBitsAreNoticed) {
  for (size_t at = 0; at < bytes_.size(); at += 5) {
    std::string damaged = bytes_;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    fixtures::WriteBytes(path_, damaged);
    EXPECT_FALSE(TokenSet::Open(path_).ok()) << "byte " << at;
  }
}

TEST_F(HostileTokenSet, ShorterFilesAreRefused) {
  for (size_t size = 0; size < bytes_.size(); size += 5) {
    fixtures::WriteBytes(path_, bytes_.substr(0, size));
    EXPECT_FALSE(TokenSet::Open(path_).ok()) << size;
  }
}

}  // namespace
}  // namespace resmem
