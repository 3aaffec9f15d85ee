// libFuzzer's entry for tokenizers: models of SentencePiece, tokenizer.json, vocab.json with its
// merges.  The first two bytes of the input say how much of it is the tokenizer; the rest is the
// text that it reads.
#include <vector>

#include "fuzz/target.h"
#include "resmem/lm/tokenizer.h"
#include "text/hugging_face/json_tokenizer.h"
#include "text/hugging_face/test_tokenizers.h"
#include "text/tokenizer/test_model.h"

namespace resmem {
namespace {

constexpr char kText[] = "the her\xC3\xA9 \xFF\x80<h>\n\xF0\x9F\x98\x80  ther";

struct Halves {
  std::string_view first, second;
};
Halves Cut(std::string_view input) {
  if (input.size() < 2) return {};
  const size_t length = static_cast<uint8_t>(input[0]) + 256u * static_cast<uint8_t>(input[1]);
  const std::string_view rest = input.substr(2);
  return {rest.substr(0, length), rest.substr(std::min(length, rest.size()))};
}

std::string Joined(const std::string& first, const std::string& second) {
  return std::string(1, static_cast<char>(first.size() & 255)) +
         static_cast<char>(first.size() >> 8) + first + second;
}

// A forged tokenizer may want to make too much of a text, but what it makes can be read again.
void Use(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<int32_t> ids;
  const Status encoded = tokenizer.EncodeFromBeginning(text, &ids);
  Expect(encoded);
  for (const int32_t id : ids) {
    Require(id >= 0 && id < tokenizer.size());
    (void)std::string(tokenizer.piece(id));
    (void)tokenizer.is_control(id);
  }
  Require(!encoded.ok() || tokenizer.Decode(ids).ok());
}

Status ReadTokenizer(std::string_view input) {
  const auto [file, text] = Cut(input);
  const auto tokenizer = Tokenizer::Parse("it", std::as_bytes(std::span(file)));
  if (!tokenizer.ok()) return tokenizer.status();
  Use(*tokenizer, text);
  Use(*tokenizer, kText);
  return {};
}

Status ReadVocabulary(std::string_view input) {
  const auto [vocabulary, merges] = Cut(input);
  const auto file = ReadJsonTokenizerFile("it", vocabulary);
  if (!file.ok() || !file->is_vocabulary()) return file.status();
  const auto coder = MakeJsonTokenizer("it", *file, merges);
  if (!coder.ok()) return coder.status();
  std::vector<int32_t> ids;
  const Status encoded = (*coder)->Encode(kText, &ids);
  for (const int32_t id : ids) Require(id >= 0 && id < (*coder)->size());
  return encoded;
}

// Of few bytes, so that the damage hits more than the list of them.
Json SmallByteLevel() {
  Json json = ByteLevelTokenizer();
  Json& vocabulary = json["model"]["vocab"];
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    if (std::string_view(" ehrt<>s").find(c) != std::string_view::npos) continue;
    vocabulary.erase(BytesAsLetters(std::string(1, c)));
  }
  return json;
}

}  // namespace

std::vector<Kind> Kinds() {
  const Json bytes = SmallByteLevel();
  std::string merges = "#version: 0.2\n";
  for (const Json& merge : bytes["model"]["merges"]) merges += merge.get<std::string>() + "\n";
  // A character map of 256 units that replaces nothing.
  const std::string map = std::string("\0\4\0\0", 4) + std::string(1024, '\0') + "b";
  const std::string rules = TextField(2, map + '\0') + NumberField(3, 1);
  return {{"unigram.model", Joined(ModelText(SmallPieces()), "ther"), ReadTokenizer},
          {"bpe.model", Joined(ModelText(SmallPieces(), NumberField(3, 2)), "her"), ReadTokenizer},
          {"rules.model", Joined(ModelText(SmallPieces(), "", rules), "a  b"), ReadTokenizer},
          {"bytes.json", Joined(bytes.dump(), "the the"), ReadTokenizer},
          {"wordpiece.json", Joined(BertTokenizer().dump(), "Hello, world!"), ReadTokenizer},
          {"unigram.json", Joined(UnigramTokenizer(false).dump(), "the r"), ReadTokenizer},
          {"vocab.json", Joined(bytes["model"]["vocab"].dump(), merges), ReadVocabulary}};
}

}  // namespace resmem
