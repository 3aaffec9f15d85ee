// What SentencePiece itself makes of real models is compared in tests/text/sentencepiece_test.py.
#include "resmem/lm/tokenizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "support/random.h"
#include "support/text.h"
#include "text/tokenizer/test_model.h"

namespace resmem {
namespace {

Result<Tokenizer> Parse(const std::string& model) {
  return Tokenizer::Parse("test.model", std::as_bytes(std::span(model)));
}

Tokenizer MustParse(const std::string& model) {
  auto tokenizer = Parse(model);
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  if (!tokenizer.ok()) std::abort();
  return std::move(tokenizer).value();
}

std::string Pieces(const Tokenizer& tokenizer, const std::string& text) {
  std::vector<int32_t> ids;
  EXPECT_TRUE(tokenizer.Encode(text, &ids).ok());
  std::string pieces;
  for (const int32_t id : ids) pieces += std::string(tokenizer.piece(id)) + "|";
  return pieces;
}

std::string Decoded(const Tokenizer& tokenizer, const std::string& text) {
  std::vector<int32_t> ids;
  EXPECT_TRUE(tokenizer.Encode(text, &ids).ok());
  return tokenizer.Decode(ids).value();
}

const std::string kBpe = NumberField(3, 2);
const std::string kByteFallback = NumberField(35, 1);

std::vector<Piece> WithBytes() {
  std::vector<Piece> pieces = SmallPieces();
  constexpr char kDigits[] = "0123456789ABCDEF";
  for (int i = 0; i < 256; ++i) {
    pieces.push_back(
        {std::string("<0x") + kDigits[i / 16] + kDigits[i % 16] + ">", 0, PieceType::kByte});
  }
  return pieces;
}

TEST(Tokenizer, KnowsItsSpecialPieces) {
  const Tokenizer tokenizer = MustParse(ModelText(SmallPieces()));
  EXPECT_EQ(tokenizer.kind(), TokenizerKind::kUnigram);
  EXPECT_EQ(tokenizer.size(), 3 + static_cast<int64_t>(SmallPieces().size()));
  EXPECT_EQ(tokenizer.end_id(), 1);
  EXPECT_EQ(tokenizer.unknown_id(), 2);
  EXPECT_TRUE(tokenizer.is_control(0));
  EXPECT_FALSE(tokenizer.is_control(3));
  EXPECT_EQ(tokenizer.fingerprint().size(), 32u);
}

TEST(Tokenizer, UnigramTakesThePathOfTheLargestScore) {
  const Tokenizer tokenizer = MustParse(ModelText(SmallPieces()));
  // "▁" "ther" is -9, as is "▁the" "r", whose last piece begins later; "▁t" "he" "r" is -16.
  EXPECT_EQ(Pieces(tokenizer, "ther"), "\xE2\x96\x81|ther|");
  EXPECT_EQ(Pieces(tokenizer, "her the"), "\xE2\x96\x81|h|er|\xE2\x96\x81the|");
}

TEST(Tokenizer, BpeMergesTheBestPairFirst) {
  const Tokenizer tokenizer = MustParse(ModelText(SmallPieces(), kBpe));
  // "er" (-3) is merged before "he" (-4) can be; then "▁t" (-5).
  EXPECT_EQ(Pieces(tokenizer, "ther"), "\xE2\x96\x81t|h|er|");
}

TEST(Tokenizer, BlanksAreJoinedAndLinesStandAlone) {
  const Tokenizer tokenizer = MustParse(ModelText(SmallPieces()));
  const std::string once = Pieces(tokenizer, "the her");
  EXPECT_EQ(Pieces(tokenizer, "  the   her  "), once);
  EXPECT_EQ(Pieces(tokenizer, "the\nher\n"), once);
  EXPECT_EQ(Pieces(tokenizer, "\n\nthe\n\n\nher"), once);
  EXPECT_EQ(Pieces(tokenizer, ""), "");
  EXPECT_EQ(Pieces(tokenizer, " \n "), "");
}

TEST(Tokenizer, RunOfUnknownCharactersIsOneToken) {
  const Tokenizer tokenizer = MustParse(ModelText(SmallPieces()));
  EXPECT_EQ(Pieces(tokenizer, "a\xC3\xA9\xC3\xA8z"), "\xE2\x96\x81|a|<unk>|z|");
}

TEST(Tokenizer, ByteFallbackGivesTheTextBack) {
  for (const std::string& kind : {std::string(), kBpe}) {
    const Tokenizer tokenizer = MustParse(ModelText(WithBytes(), kind + kByteFallback));
    EXPECT_EQ(Pieces(tokenizer, "a\xC3\xA9"), "\xE2\x96\x81|a|<0xC3>|<0xA9>|");
    EXPECT_EQ(Decoded(tokenizer, "the \xC3\xA9\xF0\x9F\x98\x80 her"),
              "the \xC3\xA9\xF0\x9F\x98\x80 her");
  }
}

TEST(Tokenizer, BytesThatAreNoTextAreReplaced) {
  const Tokenizer tokenizer = MustParse(ModelText(WithBytes(), kByteFallback));
  EXPECT_EQ(Decoded(tokenizer, "a\xFFz"), "a\xEF\xBF\xBDz");
}

TEST(Tokenizer, UserDefinedPiecesAreNeverSplit) {
  std::vector<Piece> pieces = SmallPieces();
  pieces.push_back({"<h>", 0, PieceType::kUserDefined});
  for (const std::string& kind : {std::string(), kBpe}) {
    const Tokenizer tokenizer = MustParse(ModelText(pieces, kind));
    EXPECT_EQ(Pieces(tokenizer, "a<h>er"), "\xE2\x96\x81|a|<h>|er|");
  }
}

TEST(Tokenizer, DecodingForgetsControlPiecesAndShowsUnknownOnes) {
  const Tokenizer tokenizer = MustParse(ModelText(SmallPieces()));
  EXPECT_EQ(tokenizer.Decode(std::vector<int32_t>{4, 2, 4, 1}).value(), "the \xE2\x81\x87  the");
  EXPECT_EQ(tokenizer.Decode(std::vector<int32_t>{-1}).status().code(),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(tokenizer.Decode(std::vector<int32_t>{1000}).status().code(),
            ErrorCode::kInvalidArgument);
}

TEST(Tokenizer, LongLineIsCutAtABlankAndLosesNothing) {
  const Tokenizer tokenizer = MustParse(ModelText(SmallPieces()));
  std::string line, lines;
  for (int i = 0; i < 100000; ++i) {
    line += "her ";
    lines += "her\n";
  }
  EXPECT_EQ(Pieces(tokenizer, line), Pieces(tokenizer, lines));
  const std::string word(300000, 'q');  // no blank at all: each part begins with one
  std::vector<int32_t> ids;
  ASSERT_TRUE(tokenizer.Encode(word, &ids).ok());
  EXPECT_EQ(std::count(ids.begin(), ids.end(), 3), 5);
  EXPECT_EQ(ids.size(), 300005u);
}

TEST(HostileTokenizer, NamesWhatIsWrong) {
  const std::vector<Piece> good = SmallPieces();
  const auto with = [&](const Piece& piece) {
    std::vector<Piece> pieces = good;
    pieces.push_back(piece);
    return ModelText(pieces);
  };
  const struct {
    std::string model;
    ErrorCode code;
    std::string words;
  } kCases[] = {
      {"", ErrorCode::kBadData, "is not a SentencePiece model"},
      {"plain text, not a model", ErrorCode::kBadData, "is not a SentencePiece model"},
      {ModelText({}), ErrorCode::kBadData, "no piece of text"},
      {with({"", -1}), ErrorCode::kBadData, "has 0 bytes"},
      {with({std::string(5000, 'a'), -1}), ErrorCode::kBadData, "has 5000 bytes"},
      {with({std::string("a\0b", 3), -1}), ErrorCode::kBadData, "holds a NUL"},
      {with({"x y", NAN}), ErrorCode::kBadData, "not a number"},
      {with({"x y", -INFINITY}), ErrorCode::kBadData, "not a number"},
      {with({"er", -1}), ErrorCode::kBadData, "is there twice"},
      {with({"<u>", 0, PieceType::kUnknown}), ErrorCode::kBadData, "2 pieces for what is unknown"},
      {with({"x y", 0, static_cast<PieceType>(9)}), ErrorCode::kBadData, "has the type 9"},
      {with({"<0xG0>", 0, PieceType::kByte}), ErrorCode::kBadData, "not the name of a byte"},
      {ModelText(good, kByteFallback), ErrorCode::kBadData, "256 pieces for bytes"},
      {ModelText(good, NumberField(3, 7)), ErrorCode::kBadData, "model type is 7"},
      {ModelText(good, NumberField(3, 3)), ErrorCode::kUnsupported, "words as pieces"},
      {ModelText(good, NumberField(3, 4)), ErrorCode::kUnsupported, "characters as pieces"},
      {ModelText(good, NumberField(24, 1)), ErrorCode::kUnsupported, "blanks at the end"},
      {ModelText(good, "", TextField(2, "abc")), ErrorCode::kBadData, "character map"},
      {ModelText(good, "", TextField(2, std::string("\xFF\xFF\xFF\x7F....\0", 9))),
       ErrorCode::kBadData, "character map"},
  };
  for (const auto& test : kCases) {
    const Status status = Parse(test.model).status();
    EXPECT_EQ(status.code(), test.code) << status.message();
    EXPECT_NE(status.message().find(test.words), std::string::npos)
        << status.message() << " lacks " << test.words;
    EXPECT_TRUE(status.message().starts_with("test.model: ")) << status.message();
  }
}

TEST(HostileTokenizer, DamagedModelsNeverCrash) {
  // A character map of random units: every link may lead anywhere.
  Random random(11);
  const std::string good = ModelText(WithBytes(), kByteFallback);
  for (int trial = 0; trial < 2000; ++trial) {
    std::string map = std::string("\x00\x04\x00\x00", 4);
    for (int i = 0; i < 1024; ++i) map += static_cast<char>(random.Below(256));
    map += std::string("abc\0d\0", 6);
    std::string model = ModelText(SmallPieces(), "", TextField(2, map));
    if (trial % 2 == 0) {
      model = good;
      for (int i = 0; i < 4; ++i) {
        model[random.Below(model.size())] = static_cast<char>(random.Below(256));
      }
    }
    const auto tokenizer = Parse(model);
    if (!tokenizer.ok()) continue;
    std::vector<int32_t> ids;
    ASSERT_TRUE(tokenizer->Encode("the \xC3\xA9 her\xFF\x80 <h> zz\n\xF0\x9F\x98\x80", &ids).ok());
    ASSERT_TRUE(tokenizer->Decode(ids).ok());
  }
}

// A character map that replaces "a", and nothing else.
std::string MapOfA(const std::string& replacement) {
  std::vector<uint32_t> units(256);
  constexpr uint32_t kLeaf = 1 << 8, kOffsetOfOne = 1 << 10;
  units['a'] = 'a' | kLeaf | kOffsetOfOne;
  units['a' ^ 1] = 0;  // where the replacement begins
  std::string map = std::string("\x00\x04\x00\x00", 4);
  map.append(reinterpret_cast<const char*>(units.data()), units.size() * sizeof(uint32_t));
  return map + replacement + std::string(1, '\0');
}

TEST(HostileTokenizer, ATextGrowsToSixteenTimesItsSizeAndNoFurther) {
  const std::string text(1000, 'a');
  const auto encode = [&](const std::string& replacement, std::vector<int32_t>* ids) {
    const std::string model = ModelText(SmallPieces(), "", TextField(2, MapOfA(replacement)));
    const auto tokenizer = Tokenizer::Parse("m", std::as_bytes(std::span(model)));
    EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().message();
    return tokenizer->Encode(text, ids);
  };
  std::vector<int32_t> ids;
  const Status allowed = encode(std::string(16, 'x'), &ids);
  EXPECT_TRUE(allowed.ok()) << allowed.message();
  EXPECT_GE(ids.size(), 16 * text.size());
  for (const size_t size : {size_t{17}, size_t{1} << 23}) {
    const Status refused = encode(std::string(size, 'x'), &ids);
    EXPECT_EQ(refused.code(), ErrorCode::kBadData);
    EXPECT_NE(refused.message().find("character map"), std::string::npos) << refused.message();
  }
}

TEST(HostileTokenizer, AnUnknownTextOfMegabytesIsRefused) {
  constexpr uint64_t kUnknownSurface = 44;
  const std::string model =
      ModelText(SmallPieces(), TextField(kUnknownSurface, std::string(1 << 20, 'x')));
  EXPECT_EQ(Tokenizer::Parse("m", std::as_bytes(std::span(model))).status().code(),
            ErrorCode::kBadData);
}

}  // namespace
}  // namespace resmem
