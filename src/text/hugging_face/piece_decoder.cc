#include "text/hugging_face/piece_decoder.h"

#include <utility>

#include "support/text.h"
#include "text/hugging_face/byte_letters.h"
#include "text/hugging_face/characters.h"
#include "text/hugging_face/json_parts.h"
#include "text/tokenizer/model_file.h"
#include "text/utf8.h"

namespace resmem {
namespace {

using Pieces = std::vector<std::string>;

constexpr char kDecoder[] = "decoder";

std::string Together(const Pieces& pieces) {
  std::string text;
  for (const std::string& piece : pieces) text += piece;
  return text;
}

void ReplaceAll(std::string_view from, std::string_view to, std::string* text) {
  std::string replaced;
  size_t done = 0;
  for (size_t at = text->find(from); at != std::string::npos; at = text->find(from, done)) {
    replaced.append(*text, done, at - done).append(to);
    done = at + from.size();
  }
  *text = replaced.append(*text, done);
}

// English as it is written: "do n't ." is "don't.".
void CleanUp(std::string* text) {
  for (const auto& [from, to] :
       {std::pair{" .", "."}, std::pair{" ?", "?"}, std::pair{" !", "!"}, std::pair{" ,", ","},
        std::pair{" ' ", "'"}, std::pair{" n't", "n't"}, std::pair{" 'm", "'m"},
        std::pair{" 's", "'s"}, std::pair{" 've", "'ve"}, std::pair{" 're", "'re"}}) {
    ReplaceAll(from, to, text);
  }
}

// Pieces such as <0x41> in a row are the bytes of characters.
Pieces BytesJoined(const Pieces& pieces) {
  Pieces joined;
  std::string bytes;
  size_t count = 0;
  const auto add_bytes = [&] {
    bool valid = true;
    for (std::string_view rest = bytes; valid && !rest.empty();) {
      valid = Utf8Length(rest) > 0;
      if (valid) rest.remove_prefix(Utf8Length(rest));
    }
    if (valid && !bytes.empty()) joined.push_back(bytes);
    for (size_t i = 0; !valid && i < count; ++i) joined.emplace_back(kReplacementCharacter);
    bytes.clear();
    count = 0;
  };
  for (const std::string& piece : pieces) {
    const int byte = ByteOfPiece(piece);
    if (byte < 0) {
      add_bytes();
      joined.push_back(piece);
    } else {
      bytes += static_cast<char>(byte);
      ++count;
    }
  }
  add_bytes();
  return joined;
}

}  // namespace

Result<PieceDecoder> PieceDecoder::Read(const Json* json) {
  PieceDecoder decoder;
  if (json != nullptr) {
    RESMEM_RETURN_IF_ERROR(decoder.Add(*json));
    return decoder;
  }
  decoder.steps_.push_back([](Pieces pieces) -> Result<Pieces> {
    for (size_t i = 1; i < pieces.size(); ++i) pieces[i].insert(0, 1, ' ');
    return pieces;
  });
  return decoder;
}

Status PieceDecoder::Add(const Json& json) {
  RESMEM_ASSIGN_OR_RETURN(const std::string type, TypeOf(json, kDecoder));
  if (type == "Sequence") {
    const Json* list = FindPart(json, "decoders");
    if (list == nullptr || !list->is_array()) {
      return {ErrorCode::kBadData, "its decoder Sequence has no list of decoders"};
    }
    for (const Json& part : *list) RESMEM_RETURN_IF_ERROR(Add(part));
    return {};
  }
  if (steps_.size() >= kMostParts) {
    return {ErrorCode::kBadData, Text("it has more than ", kMostParts, " decoders")};
  }
  if (type == "ByteLevel") {
    has_byte_letters_ = true;
    steps_.push_back([](const Pieces& pieces) -> Result<Pieces> {
      std::string bytes;
      for (const std::string& piece : pieces) bytes += LettersAsBytes(piece).value_or(piece);
      return Pieces{bytes};
    });
    return {};
  }
  if (type == "ByteFallback") {
    steps_.push_back([](const Pieces& pieces) -> Result<Pieces> { return BytesJoined(pieces); });
    return {};
  }
  if (type == "Fuse") {
    steps_.push_back(
        [](const Pieces& pieces) -> Result<Pieces> { return Pieces{Together(pieces)}; });
    return {};
  }
  if (type == "BPEDecoder") {
    RESMEM_ASSIGN_OR_RETURN(const std::string suffix, ReadWords(json, "suffix", "</w>"));
    if (suffix.empty()) return {};
    steps_.push_back([suffix](Pieces pieces) -> Result<Pieces> {
      for (size_t i = 0; i < pieces.size(); ++i) {
        ReplaceAll(suffix, i + 1 < pieces.size() ? " " : "", &pieces[i]);
      }
      return pieces;
    });
    return {};
  }
  if (type == "Replace") return AddReplacement(json);
  if (type == "Strip") return AddStrip(json);
  if (type == "WordPiece") return AddWordPiece(json);
  if (type == "Metaspace") return AddMetaspace(json);
  return UnknownType(kDecoder, type);
}

Status PieceDecoder::AddReplacement(const Json& json) {
  RESMEM_ASSIGN_OR_RETURN(const Pattern pattern, ReadPattern(json));
  RESMEM_ASSIGN_OR_RETURN(const std::string content, ReadWords(json, "content", ""));
  constexpr size_t kMostBytes = 64;  // in place of one match
  if (content.size() > kMostBytes) {
    return {ErrorCode::kBadData, Text("its decoder Replace puts in ", content.size(), " bytes")};
  }
  steps_.push_back([pattern, content](Pieces pieces) -> Result<Pieces> {
    WorkLimit limit;
    for (std::string& piece : pieces) {
      piece = ValidUtf8(piece);  // as Find() wants it; bytes of a character may be cut
      RESMEM_ASSIGN_OR_RETURN(const std::vector<ByteRange> found, pattern.Find(piece, &limit));
      for (auto match = found.rbegin(); match != found.rend(); ++match) {
        piece.replace(match->begin, match->end - match->begin, content);
      }
    }
    return pieces;
  });
  return {};
}

Status PieceDecoder::AddStrip(const Json& json) {
  RESMEM_ASSIGN_OR_RETURN(const std::string content, ReadWords(json, "content", " "));
  RESMEM_ASSIGN_OR_RETURN(const int64_t front, ReadCount(json, "start", 0));
  RESMEM_ASSIGN_OR_RETURN(const int64_t back, ReadCount(json, "stop", 0));
  if (content.empty()) return {ErrorCode::kBadData, "its decoder Strip takes away nothing"};
  steps_.push_back([=](Pieces pieces) -> Result<Pieces> {
    for (std::string& piece : pieces) {
      std::string_view rest = piece;
      for (int64_t i = 0; i < front && rest.starts_with(content); ++i) {
        rest.remove_prefix(content.size());
      }
      for (int64_t i = 0; i < back && rest.ends_with(content); ++i) {
        rest.remove_suffix(content.size());
      }
      piece = std::string(rest);
    }
    return pieces;
  });
  return {};
}

Status PieceDecoder::AddWordPiece(const Json& json) {
  RESMEM_ASSIGN_OR_RETURN(const std::string prefix, ReadWords(json, "prefix", "##"));
  RESMEM_ASSIGN_OR_RETURN(const bool clean, ReadFlag(json, "cleanup", true));
  steps_.push_back([prefix, clean](Pieces pieces) -> Result<Pieces> {
    for (size_t i = 0; i < pieces.size(); ++i) {
      const bool continues = !prefix.empty() && pieces[i].starts_with(prefix);
      if (i > 0) continues ? pieces[i].erase(0, prefix.size()) : pieces[i].insert(0, 1, ' ');
      if (clean) CleanUp(&pieces[i]);
    }
    return pieces;
  });
  return {};
}

Status PieceDecoder::AddMetaspace(const Json& json) {
  RESMEM_ASSIGN_OR_RETURN(const std::string mark, ReadWords(json, "replacement", kBlankMark));
  RESMEM_ASSIGN_OR_RETURN(const bool add_blank, ReadFlag(json, "add_prefix_space", true));
  RESMEM_ASSIGN_OR_RETURN(const std::string scheme,
                          ReadWords(json, "prepend_scheme", add_blank ? "always" : "never"));
  if (mark.empty()) return {ErrorCode::kBadData, "its decoder Metaspace has no replacement"};
  steps_.push_back([mark, strips = scheme != "never"](Pieces pieces) -> Result<Pieces> {
    for (size_t i = 0; i < pieces.size(); ++i) {
      if (i == 0 && strips && pieces[i].starts_with(mark)) pieces[i].erase(0, mark.size());
      ReplaceAll(mark, " ", &pieces[i]);
    }
    return pieces;
  });
  return {};
}

Result<std::string> PieceDecoder::Decode(std::vector<std::string> pieces) const {
  for (const Step& step : steps_) {
    RESMEM_ASSIGN_OR_RETURN(pieces, step(std::move(pieces)));
  }
  return Together(pieces);
}

}  // namespace resmem
