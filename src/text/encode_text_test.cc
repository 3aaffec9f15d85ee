#include "resmem/lm/encode_text.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "fixtures/file_bytes.h"
#include "fixtures/small_memory.h"
#include "resmem/lm/text_sample.h"
#include "resmem/lm/token_set.h"
#include "support/random.h"
#include "text/tokenizer/test_model.h"

namespace resmem {
namespace {

class EncodeTextTest : public testing::Test {
 protected:
  EncodeTextTest() {
    Random random(4);
    std::string text;
    for (int d = 0; d < 3000; ++d) {
      text += "{\"text\":\"";
      for (uint64_t i = random.Below(400); i > 0; --i) {
        text += random.Below(6) == 0 ? ' ' : static_cast<char>('a' + random.Below(26));
      }
      text += "\"}\n";
    }
    text += "{\"text\":\"\\u2581\"}\nbroken\n";
    fixtures::WriteBytes(folder_ / "text.jsonl", text);
  }
  static Tokenizer Small(const std::string& model) {
    auto tokenizer = Tokenizer::Parse("small.model", std::as_bytes(std::span(model)));
    EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().message();
    if (!tokenizer.ok()) std::abort();
    return std::move(tokenizer).value();
  }
  TextSource Source() { return TextSource::Open({folder_ / "text.jsonl"}).value(); }

  const fixtures::TemporaryFolder folder_{fixtures::FastParent()};
  const Tokenizer tokenizer_ = Small(ModelText(SmallPieces()));
};

TEST_F(EncodeTextTest, FileDoesNotDependOnTheThreads) {
  for (const int threads : {1, 3}) {
    TextSource source = Source();
    const auto encoded =
        EncodeText(&source, tokenizer_, folder_ / std::to_string(threads), {threads, nullptr});
    ASSERT_TRUE(encoded.ok()) << encoded.status().message();
    EXPECT_EQ(encoded->text.broken_records, 1);
    EXPECT_EQ(encoded->documents, encoded->text.documents);
    EXPECT_EQ(encoded->documents + encoded->text.empty_documents, 3001);
  }
  EXPECT_EQ(fixtures::ReadBytes(folder_ / "1"), fixtures::ReadBytes(folder_ / "3"));
}

TEST_F(EncodeTextTest, EachDocumentDecodesToItsText) {
  TextSource source = Source();
  ASSERT_TRUE(EncodeText(&source, tokenizer_, folder_ / "set").ok());
  const auto set = TokenSet::Open(folder_ / "set");
  ASSERT_TRUE(set.ok()) << set.status().message();
  EXPECT_EQ(set->description().tokenizer, tokenizer_.fingerprint());
  TextSource again = Source();
  TextDocument document;
  int64_t d = 0;
  for (; d < set->documents() && again.Next(&document).value(); ++d) {
    std::vector<int32_t> ids(static_cast<size_t>(set->document(d).size()));
    set->Read(set->document(d).begin, ids);
    std::vector<int32_t> expected;
    ASSERT_TRUE(tokenizer_.Encode(document.text, &expected).ok());
    if (expected.empty()) {
      --d;
      continue;
    }
    expected.push_back(1);
    ASSERT_EQ(ids, expected);
  }
  EXPECT_EQ(d, set->documents());
}

TEST_F(EncodeTextTest, CancelledWorkLeavesNothing) {
  class Stop : public Progress {
    bool Cancelled() const override { return true; }
  } stop;
  TextSource source = Source();
  EXPECT_EQ(EncodeText(&source, tokenizer_, folder_ / "set", {1, &stop}).status().code(),
            ErrorCode::kCancelled);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_ / ""), {}), 1);
}

TEST_F(EncodeTextTest, TextWithoutDocumentsSaysWhy) {
  fixtures::WriteBytes(folder_ / "bad.jsonl", "{\"txt\":\"a\"}\n");
  TextSource source = TextSource::Open({folder_ / "bad.jsonl"}).value();
  const Status status = EncodeText(&source, tokenizer_, folder_ / "set").status();
  EXPECT_EQ(status.code(), ErrorCode::kBadData);
  EXPECT_NE(status.message().find("bad.jsonl: line 1: the JSON object has no \"text\""),
            std::string::npos)
      << status.message();
}

TEST_F(EncodeTextTest, TokenizerWithoutAnEndIsRefused) {
  const Tokenizer endless = Small(ModelText(SmallPieces(), TextField(47, "<end>")));
  TextSource source = Source();
  EXPECT_EQ(EncodeText(&source, endless, folder_ / "set").status().code(), ErrorCode::kUnsupported);
}

TEST_F(EncodeTextTest, SampleIsTheSameForASeedAndTakesFromEverywhere) {
  const auto draw = [&](int64_t lines, uint64_t seed) {
    TextSource source = Source();
    TextSampleOptions options;
    options.lines = lines;
    options.seed = seed;
    return SampleLines(&source, options).value();
  };
  const TextSample all = draw(100000, 1);
  EXPECT_EQ(static_cast<int64_t>(all.lines.size()), all.lines_read);
  const TextSample some = draw(200, 1);
  EXPECT_EQ(some.lines.size(), 200u);
  EXPECT_EQ(some.lines, draw(200, 1).lines);
  EXPECT_NE(some.lines, draw(200, 2).lines);
  // In the order of the text, and not from its front only.
  auto place = all.lines.begin();
  for (const std::string& line : some.lines) {
    place = std::find(place, all.lines.end(), line);
    ASSERT_NE(place, all.lines.end());
  }
  EXPECT_GT(place - all.lines.begin(), all.lines_read / 2);
}

}  // namespace
}  // namespace resmem
