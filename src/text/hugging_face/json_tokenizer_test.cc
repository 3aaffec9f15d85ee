#include <gtest/gtest.h>

#include <filesystem>

#include "fixtures/file_bytes.h"
#include "fixtures/small_memory.h"
#include "resmem/lm/tokenizer.h"
#include "support/random.h"
#include "text/hugging_face/characters.h"
#include "text/hugging_face/test_tokenizers.h"

namespace resmem {
namespace {

using Ids = std::vector<int32_t>;

Result<Tokenizer> ParseJson(const Json& json) {
  const std::string text = json.dump();
  return Tokenizer::Parse("t.json", std::as_bytes(std::span(text)));
}

Ids Encoded(const Json& json, std::string_view text) {
  const auto tokenizer = ParseJson(json);
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  Ids ids;
  if (!tokenizer.ok()) return ids;
  const Status status = tokenizer->Encode(text, &ids);
  EXPECT_TRUE(status.ok()) << status.message();
  return ids;
}

// The pieces as they are shown, separated by bars.
std::string Shown(const Json& json, std::string_view text) {
  const auto tokenizer = ParseJson(json);
  std::string shown;
  for (const int32_t id : Encoded(json, text)) shown += std::string(tokenizer->piece(id)) + "|";
  return shown;
}

// A word level tokenizer whose words are those of a pre-tokenizer; each word is one unknown token.
size_t Words(const Json& pre_tokenizer, std::string_view text) {
  const Json json = {{"pre_tokenizer", pre_tokenizer},
                     {"model", {{"type", "WordLevel"}, {"unk_token", "?"}, {"vocab", {{"?", 0}}}}}};
  return Encoded(json, text).size();
}

// What a normalizer makes of a text: a tokenizer of characters, which are shown again.
std::string NormalizedBy(const Json& normalizer, std::string_view text) {
  Json vocabulary = Json::object();
  for (int c = 32; c < 127; ++c) {
    vocabulary[std::string(1, static_cast<char>(c))] = static_cast<uint64_t>(c - 32);
  }
  uint64_t next = vocabulary.size();
  for (const char* letter :
       {"\xC3\xA9", "\xCC\x81", "\xC3\x9F", "\xCF\x83", "\xCC\x87", "\xE2\x96\x81"}) {
    vocabulary[letter] = next++;
  }
  const Json json = {
      {"normalizer", normalizer},
      {"decoder", {{"type", "Fuse"}}},
      {"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", Json::array()}}}};
  const auto tokenizer = ParseJson(json);
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  return tokenizer.ok() ? *tokenizer->Decode(Encoded(json, text)) : "";
}

TEST(ByteLevel, MergesInTheOrderThatWasLearned) {
  EXPECT_EQ(Shown(ByteLevelTokenizer(), "the the"), "the|\xE2\x96\x81the|");
  EXPECT_EQ(Shown(ByteLevelTokenizer(), "hhe tt"), "h|he|\xE2\x96\x81t|t|");
}

TEST(ByteLevel, AnyBytesComeBack) {
  const auto tokenizer = ParseJson(ByteLevelTokenizer());
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  EXPECT_FALSE(tokenizer->unknown_id().has_value());
  for (const std::string text :
       {"the caf\xC3\xA9 \xF0\x9F\x98\x80\n\n  \t\xE3\x80\x80x", "  ", "\r\n", "a\xCC\x81"}) {
    Ids ids;
    ASSERT_TRUE(tokenizer->Encode(text, &ids).ok());
    EXPECT_EQ(*tokenizer->Decode(ids), text);
  }
  Ids ids;
  ASSERT_TRUE(tokenizer->Encode("a\xFFz", &ids).ok());
  EXPECT_EQ(*tokenizer->Decode(ids), "a\xEF\xBF\xBDz");
}

TEST(ByteLevel, BlanksGoAsGpt2HasThem) {
  // Of several blanks the last one belongs to the word behind.
  EXPECT_EQ(Shown(ByteLevelTokenizer(), "a   the"), "a|\xE2\x96\x81|\xE2\x96\x81|\xE2\x96\x81the|");
  EXPECT_EQ(Shown(ByteLevelTokenizer(), "a  "), "a|\xE2\x96\x81|\xE2\x96\x81|");
}

TEST(AddedTokens, AreOnePieceWhereverTheyStand) {
  const Json json = ByteLevelTokenizer();
  EXPECT_EQ(Encoded(json, "a<s>the"), (Ids{'a', 260, 259}));
  // This one takes the blanks on its left.
  EXPECT_EQ(Encoded(json, "a  <tag>b"), (Ids{'a', 262, 'b'}));
  const auto tokenizer = ParseJson(json);
  EXPECT_EQ(*tokenizer->Decode(Ids{'a', 260, 262, 'b'}), "a<tag>b");
  EXPECT_TRUE(tokenizer->is_control(260));
  EXPECT_FALSE(tokenizer->is_control(262));
  EXPECT_EQ(tokenizer->end_id(), 261);
}

TEST(AddedTokens, SingleWordsAreNotFoundInsideOthers) {
  Json json = ByteLevelTokenizer();
  json["added_tokens"].push_back({{"id", 263}, {"content", "ab"}, {"single_word", true}});
  EXPECT_EQ(Encoded(json, "ab,ab"), (Ids{263, ',', 263}));
  EXPECT_EQ(Encoded(json, "abb"), (Ids{'a', 'b', 'b'}));
}

TEST(Template, WhatATextBeginsWithIsPutBeforeIt) {
  const auto tokenizer = ParseJson(ByteLevelTokenizer());
  ASSERT_EQ(tokenizer->begin_id(), 260);
  Ids ids;
  ASSERT_TRUE(tokenizer->EncodeFromBeginning("the", &ids).ok());
  EXPECT_EQ(ids, (Ids{260, 259}));
  ids.clear();
  ASSERT_TRUE(tokenizer->EncodeFromBeginning("", &ids).ok());
  EXPECT_TRUE(ids.empty());
}

TEST(WordPiece, TakesTheLongestPieceFromTheLeft) {
  const Json json = BertTokenizer();
  EXPECT_EQ(Encoded(json, "H\xC3\xA9LLO, world!"), (Ids{2, 3, 0, 5, 6}));
  EXPECT_EQ(Encoded(json, "hell"), (Ids{2, 4}));
  EXPECT_EQ(Encoded(json, "helx"), (Ids{0})) << "a word is known as a whole or not at all";
  EXPECT_EQ(Encoded(json,
                    "a\xE4\xB8\xAD"
                    "a"),
            (Ids{8, 7, 8}))
      << "ideographs stand alone";
  EXPECT_EQ(Encoded(json, "aaaaaaaaaaaa").size(), 12u);
  EXPECT_EQ(Encoded(json, "aaaaaaaaaaaaa"), (Ids{0})) << "13 letters are too many";
  EXPECT_EQ(*ParseJson(json)->Decode(Ids{2, 3, 5, 6}), "hello world!");
}

TEST(Unigram, TakesThePathOfTheLargestScore) {
  const Json json = UnigramTokenizer(false);
  EXPECT_EQ(Shown(json, "ther the"), "\xE2\x96\x81|ther|\xE2\x96\x81the|");
  EXPECT_EQ(Encoded(json, "the\xEF\xBD\x94"), (Ids{2, 7})) << "NFKC: a wide t is a t";
  EXPECT_EQ(Encoded(json, "xyz the"), (Ids{3, 0, 2})) << "a run of unknown letters is one token";
}

TEST(Unigram, ByteFallbackGivesTheTextBack) {
  const Json json = UnigramTokenizer(true);
  const Ids ids = Encoded(json, "the \xC3\xA9");
  ASSERT_EQ(ids.size(), 4u);
  EXPECT_EQ(*ParseJson(json)->Decode(ids), "the \xC3\xA9");
}

TEST(BytePairs, ByteFallbackNeedsThePiecesOfItsBytesOnly) {
  const Json json = {{"decoder", {{"type", "ByteFallback"}}},
                     {"model",
                      {{"type", "BPE"},
                       {"unk_token", "<unk>"},
                       {"byte_fallback", true},
                       {"vocab", {{"<unk>", 0}, {"a", 1}, {"<0xC3>", 2}, {"<0xA9>", 3}}},
                       {"merges", Json::array()}}}};
  EXPECT_EQ(Encoded(json, "a\xC3\xA9\xC3\xA8"), (Ids{1, 2, 3, 0}));
  EXPECT_EQ(*ParseJson(json)->Decode(Ids{1, 2, 3}), "a\xC3\xA9");
}

TEST(Normalizers, MakeOfATextWhatTheirNamesSay) {
  EXPECT_EQ(NormalizedBy({{"type", "NFC"}}, "e\xCC\x81"), "\xC3\xA9");
  EXPECT_EQ(NormalizedBy({{"type", "NFD"}}, "\xC3\xA9"), "e\xCC\x81");
  EXPECT_EQ(NormalizedBy({{"type", "NFKC"}}, "\xEF\xAC\x81"), "fi");
  EXPECT_EQ(NormalizedBy({{"type", "NFKD"}}, "\xEF\xAC\x81\xC3\xA9"), "fie\xCC\x81");
  // No sigma of the end of a word, and the dot of the Turkish I.
  EXPECT_EQ(NormalizedBy({{"type", "Lowercase"}}, "\xC3\x89\xCE\xA3 \xC4\xB0"),
            "\xC3\xA9\xCF\x83 i\xCC\x87");
  EXPECT_EQ(NormalizedBy({{"type", "StripAccents"}}, "e\xCC\x81"), "e");
  EXPECT_EQ(NormalizedBy({{"type", "Strip"}}, " \t a b \n"), "a b");
  EXPECT_EQ(NormalizedBy({{"type", "Prepend"}, {"prepend", "_"}}, "a"), "_a");
  EXPECT_EQ(NormalizedBy({{"type", "Replace"}, {"pattern", {{"String", "aa"}}}, {"content", "b"}},
                         "aaaxa"),
            "baxa");
  EXPECT_EQ(NormalizedBy({{"type", "Replace"}, {"pattern", {{"Regex", "\\s+"}}}, {"content", " "}},
                         "a \xC2\x85\t b"),
            "a b");
  EXPECT_EQ(NormalizedBy({{"type", "Sequence"},
                          {"normalizers", {{{"type", "NFD"}}, {{"type", "StripAccents"}}}}},
                         "\xC3\xA9"),
            "e");
}

TEST(PreTokenizers, CutWhereTheirNamesSay) {
  EXPECT_EQ(Words({{"type", "WhitespaceSplit"}},
                  " a,b  c\xE3\x80\x80"
                  "d "),
            3u);
  EXPECT_EQ(Words({{"type", "Whitespace"}}, "a_1,,b \xC3\xA9!"), 5u);
  EXPECT_EQ(Words({{"type", "BertPreTokenizer"}}, "a,,b c"), 5u);
  EXPECT_EQ(Words({{"type", "Digits"}, {"individual_digits", true}}, "a12b"), 4u);
  EXPECT_EQ(Words({{"type", "Digits"}, {"individual_digits", false}}, "a12b"), 3u);
  EXPECT_EQ(Words({{"type", "Punctuation"}},
                  "a.\xE2\x80\x9C"
                  "b"),
            4u);
  EXPECT_EQ(Words({{"type", "Metaspace"}}, "a b c"), 3u);
  const auto split = [](const char* behavior, bool invert) {
    return Json{{"type", "Split"},
                {"pattern", {{"Regex", "\\p{N}{1,3}"}}},
                {"behavior", behavior},
                {"invert", invert}};
  };
  EXPECT_EQ(Words(split("Isolated", false), "a1234b"), 4u);
  EXPECT_EQ(Words(split("Removed", false), "a1234b"), 2u);
  EXPECT_EQ(Words(split("Removed", true), "a1234b"), 2u);
  EXPECT_EQ(Words(split("MergedWithPrevious", false), "a1b2"), 2u);
  EXPECT_EQ(Words(split("MergedWithNext", false), "1a2b"), 2u);
  EXPECT_EQ(Words(split("Contiguous", false), "a1234b"), 3u);
}

TEST(JsonTokenizer, WhatIsNotSupportedIsNamed) {
  const struct {
    const char* field;
    Json part;
    ErrorCode code;
    std::string words;
  } kCases[] = {
      {"normalizer", {{"type", "Nmt"}}, ErrorCode::kUnsupported, "normalizer Nmt"},
      {"normalizer", {{"kind", 1}}, ErrorCode::kBadData, "no \"type\""},
      {"pre_tokenizer", {{"type", "UnicodeScripts"}}, ErrorCode::kUnsupported, "UnicodeScripts"},
      {"pre_tokenizer",
       {{"type", "Split"}, {"pattern", {{"Regex", "[a&&[^b]]"}}}},
       ErrorCode::kUnsupported,
       "[a&&[^b]]"},
      {"pre_tokenizer",
       {{"type", "Split"}, {"pattern", {{"Regex", "(a"}}}},
       ErrorCode::kUnsupported,
       "parenthesis"},
      {"pre_tokenizer", {{"type", "Split"}}, ErrorCode::kBadData, "\"pattern\" is missing"},
      {"decoder", {{"type", "CTC"}}, ErrorCode::kUnsupported, "decoder CTC"},
      {"model", {{"type", "Magic"}, {"vocab", {{"a", 0}}}}, ErrorCode::kUnsupported, "model Magic"},
      {"model",
       {{"type", "BPE"}, {"dropout", 0.1}, {"vocab", {{"a", 0}}}, {"merges", Json::array()}},
       ErrorCode::kUnsupported,
       "dropout"},
      {"model",
       {{"type", "BPE"}, {"vocab", {{"a", 0}}}, {"merges", {"a b"}}},
       ErrorCode::kBadData,
       "merge \"a b\""},
      {"model",
       {{"type", "BPE"}, {"vocab", {{"a", 0}, {"b", 0}}}},
       ErrorCode::kBadData,
       "id 0 twice"},
      {"model",
       {{"type", "BPE"}, {"vocab", {{"a", 2000000000}}}, {"merges", Json::array()}},
       ErrorCode::kBadData,
       "the id 2000000000"},
      {"model",
       {{"type", "WordPiece"}, {"vocab", {{"a", 0}}}},
       ErrorCode::kBadData,
       "unknown piece [UNK]"},
      {"added_tokens", Json::array({{{"id", 2000000000}, {"content", "x"}}}), ErrorCode::kBadData,
       "the id 2000000000"},
  };
  for (const auto& test : kCases) {
    Json json = ByteLevelTokenizer();
    json[test.field] = test.part;
    const Status status = ParseJson(json).status();
    EXPECT_EQ(status.code(), test.code) << test.words << ": " << status.message();
    EXPECT_NE(status.message().find(test.words), std::string::npos) << status.message();
    EXPECT_TRUE(status.message().starts_with("t.json: ")) << status.message();
  }
}

TEST(Gpt2Files, AreTheSameTokenizer) {
  const fixtures::TemporaryFolder folder;
  const Json json = ByteLevelTokenizer();
  std::string merges = "#version: 0.2\n";
  for (const Json& merge : json["model"]["merges"]) merges += merge.get<std::string>() + "\r\n";
  fixtures::WriteBytes(folder / "vocab.json", json["model"]["vocab"].dump());
  const auto alone = Tokenizer::Open(folder / "vocab.json");
  EXPECT_EQ(alone.status().code(), ErrorCode::kNotFound);
  EXPECT_NE(alone.status().message().find("merges.txt"), std::string::npos);
  fixtures::WriteBytes(folder / "merges.txt", merges);
  const auto tokenizer = Tokenizer::Open(folder / "vocab.json");
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  Ids ids;
  const std::string text = "the the hhe  \xF0\x9F\x98\x80";
  ASSERT_TRUE(tokenizer->Encode(text, &ids).ok());
  EXPECT_EQ(ids, Encoded(json, text));
  EXPECT_EQ(*tokenizer->Decode(ids), text);
  // A folder is opened by what lies in it; another file of merges is another tokenizer.
  EXPECT_EQ(Tokenizer::Open(folder / "")->fingerprint(), tokenizer->fingerprint());
  fixtures::WriteBytes(folder / "merges.txt", merges.substr(0, merges.size() - 6));
  EXPECT_NE(Tokenizer::Open(folder / "vocab.json")->fingerprint(), tokenizer->fingerprint());
}

TEST(JsonTokenizer, ALongTextIsCutBetweenWordsAndLosesNothing) {
  std::string text;
  Ids expected;
  for (int i = 0; i < 40000; ++i) text += i == 0 ? "the" : " the";
  for (int i = 0; i < 40000; ++i) expected.push_back(i == 0 ? 259 : 258);
  EXPECT_EQ(Encoded(ByteLevelTokenizer(), text), expected);
  // Where a blank is put before each text, that of the cut is not there twice.
  EXPECT_EQ(Encoded(UnigramTokenizer(false), text), Ids(40000, 2));
}

TEST(HostileJsonTokenizer, TextGrowsToALimitAndNoFurther) {
  Json json = ByteLevelTokenizer();
  Json grows = {{"type", "Replace"}, {"pattern", {{"String", "a"}}}};
  grows["content"] = std::string(10, 'b');
  json["normalizer"] = grows;
  EXPECT_EQ(Encoded(json, std::string(1000, 'a')).size(), 10000u);
  grows["content"] = std::string(1 << 20, 'b');
  json["normalizer"] = grows;
  EXPECT_EQ(ParseJson(json).status().code(), ErrorCode::kBadData) << "<tag> grows as well";
  json["added_tokens"] = Json::array();
  const auto tokenizer = ParseJson(json);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  Ids ids;
  const Status status = tokenizer->Encode(std::string(60000, 'a'), &ids);
  EXPECT_EQ(status.code(), ErrorCode::kBadData);
  EXPECT_NE(status.message().find("normalizers make more than"), std::string::npos);
}

TEST(HostileJsonTokenizer, PatternsThatTakeForeverAreStopped) {
  Json json = ByteLevelTokenizer();
  for (const char* regex : {"(a|aa)+$", "(a*)*b", "(?:a?){30}a{30}x"}) {
    json["pre_tokenizer"] = {
        {"type", "Split"}, {"pattern", {{"Regex", regex}}}, {"behavior", "Isolated"}};
    const auto tokenizer = ParseJson(json);
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message();
    Ids ids;
    const Status status = tokenizer->Encode(std::string(2000, 'a') + "!bx", &ids);
    EXPECT_EQ(status.code(), ErrorCode::kBadData) << regex;
    EXPECT_NE(status.message().find("steps"), std::string::npos) << status.message();
  }
}

TEST(HostileJsonTokenizer, DamagedFilesNeverCrash) {
  Random random(7);
  Json charsmap = UnigramTokenizer(true);
  charsmap["normalizer"] = {{"type", "Precompiled"}, {"precompiled_charsmap", "BAAAAGEBAABhYgA="}};
  const std::string seeds[] = {ByteLevelTokenizer().dump(), BertTokenizer().dump(),
                               UnigramTokenizer(true).dump(), charsmap.dump()};
  int sound = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    std::string text = seeds[random.Below(4)];
    for (uint64_t i = random.Below(3); i > 0; --i) {
      text[random.Below(text.size())] = static_cast<char>(random.Below(256));
    }
    const auto tokenizer = Tokenizer::Parse("t.json", std::as_bytes(std::span(text)));
    if (!tokenizer.ok()) continue;
    ++sound;
    Ids ids;
    const Status status =
        tokenizer->Encode("the \xC3\xA9 her\xFF\x80 <h> zz\n\xF0\x9F\x98\x80 1234 <s>", &ids);
    if (status.ok()) {
      ASSERT_TRUE(tokenizer->Decode(ids).ok());
    }
  }
  EXPECT_GT(sound, 300);
}

}  // namespace
}  // namespace resmem
