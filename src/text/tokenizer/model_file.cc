#include "text/tokenizer/model_file.h"

#include <array>
#include <cmath>
#include <unordered_set>

#include "support/text.h"
#include "text/tokenizer/protocol_buffer.h"

namespace resmem {
namespace {

constexpr size_t kMaxPieces = size_t{1} << 24;
constexpr size_t kMaxPieceBytes = 4096;

// Field numbers of sentencepiece_model.proto.
enum ModelField : uint64_t { kPieces = 1, kTrainer = 2, kNormalizer = 3, kDenormalizer = 5 };
enum PieceField : uint64_t { kText = 1, kScore = 2, kType = 3 };
enum TrainerField : uint64_t {
  kModelType = 3,
  kBlankAsSuffix = 24,
  kByteFallback = 35,
  kUnknownSurface = 44,
  kEndPiece = 47,
};
enum NormalizerField : uint64_t {
  kCharacterMap = 2,
  kDummyPrefix = 3,
  kRemoveBlanks = 4,
  kEscapeBlanks = 5,
};

class Parser {
 public:
  Parser(const std::string& name, std::string_view bytes) : name_(name), bytes_(bytes) {}

  Result<ModelFile> Parse() {
    for (ProtocolBuffer model(bytes_); model.Next() || !model.ok();) {
      if (!model.ok()) return NotAModel();
      switch (model.field()) {
        case kPieces:
          RESMEM_RETURN_IF_ERROR(AddPiece(model.text()));
          break;
        case kTrainer:
          RESMEM_RETURN_IF_ERROR(ReadTrainer(model.text()));
          break;
        case kNormalizer:
          RESMEM_RETURN_IF_ERROR(ReadNormalizer(model.text(), &file_.normalizer));
          break;
        case kDenormalizer: {
          NormalizerRules rules;
          RESMEM_RETURN_IF_ERROR(ReadNormalizer(model.text(), &rules));
          if (!rules.character_map.empty()) return Unsupported("rules for decoding");
          break;
        }
      }
    }
    RESMEM_RETURN_IF_ERROR(CheckPieces());
    return std::move(file_);
  }

 private:
  Status Bad(const std::string& problem) const {
    return {ErrorCode::kBadData, Text(name_, ": is not a sound SentencePiece model: ", problem)};
  }
  Status NotAModel() const {
    return {ErrorCode::kBadData,
            Text(name_,
                 ": is not a SentencePiece model; name a .model file, or make one with: "
                 "resmem tokenizer train")};
  }
  Status Unsupported(const std::string& what) const {
    return {ErrorCode::kUnsupported,
            Text(name_, ": a SentencePiece model with ", what,
                 " cannot be used; train one with: resmem tokenizer train")};
  }

  Status AddPiece(std::string_view message) {
    Piece piece;
    for (ProtocolBuffer fields(message); fields.Next() || !fields.ok();) {
      if (!fields.ok()) return NotAModel();
      switch (fields.field()) {
        case kText:
          piece.text = fields.text();
          break;
        case kScore:
          piece.score = fields.real();
          break;
        case kType:
          piece.type = static_cast<PieceType>(fields.number());
          break;
      }
    }
    const auto where = [&] { return Text("piece ", file_.pieces.size(), " "); };
    if (file_.pieces.size() >= kMaxPieces) return Bad(Text("more than ", kMaxPieces, " pieces"));
    if (piece.text.empty() || piece.text.size() > kMaxPieceBytes) {
      return Bad(where() +
                 Text("has ", piece.text.size(), " bytes, allowed are 1 to ", kMaxPieceBytes));
    }
    if (piece.text.find('\0') != std::string::npos) return Bad(where() + "holds a NUL");
    if (!std::isfinite(piece.score)) return Bad(where() + "has a score that is not a number");
    if (piece.type < PieceType::kNormal || piece.type > PieceType::kByte) {
      return Bad(where() + Text("has the type ", static_cast<uint64_t>(piece.type)));
    }
    file_.pieces.push_back(std::move(piece));
    return {};
  }

  Status ReadTrainer(std::string_view message) {
    for (ProtocolBuffer fields(message); fields.Next() || !fields.ok();) {
      if (!fields.ok()) return NotAModel();
      switch (fields.field()) {
        case kModelType:
          if (fields.number() == 3) return Unsupported("words as pieces");
          if (fields.number() == 4) return Unsupported("characters as pieces");
          if (fields.number() < 1 || fields.number() > 4) {
            return Bad(Text("its model type is ", fields.number()));
          }
          file_.kind = fields.number() == 1 ? TokenizerKind::kUnigram : TokenizerKind::kBpe;
          break;
        case kBlankAsSuffix:
          if (fields.number() != 0) return Unsupported("blanks at the end of pieces");
          break;
        case kByteFallback:
          file_.byte_fallback = fields.number() != 0;
          break;
        case kUnknownSurface:
          if (fields.text().size() > kMaxPieceBytes) {
            return Bad(Text("its text for what is unknown has ", fields.text().size(),
                            " bytes; allowed are ", kMaxPieceBytes));
          }
          file_.unknown_text = fields.text();
          break;
        case kEndPiece:
          if (!fields.text().empty()) file_.end_piece = fields.text();
          break;
      }
    }
    return {};
  }

  Status ReadNormalizer(std::string_view message, NormalizerRules* rules) const {
    for (ProtocolBuffer fields(message); fields.Next() || !fields.ok();) {
      if (!fields.ok()) return NotAModel();
      switch (fields.field()) {
        case kCharacterMap:
          rules->character_map = fields.text();
          break;
        case kDummyPrefix:
          rules->add_dummy_prefix = fields.number() != 0;
          break;
        case kRemoveBlanks:
          rules->remove_extra_blanks = fields.number() != 0;
          break;
        case kEscapeBlanks:
          rules->escape_blanks = fields.number() != 0;
          break;
      }
    }
    return {};
  }

  Status CheckPieces() const {
    if (file_.pieces.empty()) return NotAModel();
    std::unordered_set<std::string_view> in_text, reserved;
    std::array<bool, 256> bytes{};
    int unknown = 0;
    bool normal = false;
    for (const Piece& piece : file_.pieces) {
      if (!(IsInText(piece) ? in_text : reserved).insert(piece.text).second) {
        return Bad(Text("the piece \"", piece.text, "\" is there twice"));
      }
      normal |= piece.type == PieceType::kNormal;
      unknown += piece.type == PieceType::kUnknown ? 1 : 0;
      if (piece.type == PieceType::kUnused && file_.kind == TokenizerKind::kBpe) {
        return Unsupported("unused pieces of byte pair encoding");
      }
      if (piece.type != PieceType::kByte) continue;
      const int byte = ByteOfPiece(piece.text);
      if (byte < 0) return Bad(Text("\"", piece.text, "\" is not the name of a byte"));
      bytes[static_cast<size_t>(byte)] = true;
    }
    if (unknown != 1) return Bad(Text("it has ", unknown, " pieces for what is unknown, not 1"));
    if (!normal) return Bad("it has no piece of text");
    for (const bool found : bytes) {
      if (file_.byte_fallback && !found) return Bad("it lacks some of the 256 pieces for bytes");
    }
    return {};
  }

  const std::string& name_;
  std::string_view bytes_;
  ModelFile file_;
};

}  // namespace

int ByteOfPiece(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  if (text.size() != 6 || !text.starts_with("<0x") || text.back() != '>') return -1;
  const size_t high = kDigits.find(text[3]), low = kDigits.find(text[4]);
  if (high == std::string_view::npos || low == std::string_view::npos) return -1;
  return static_cast<int>(high * 16 + low);
}

Result<ModelFile> ParseModelFile(const std::string& name, std::string_view bytes) {
  return Parser(name, bytes).Parse();
}

}  // namespace resmem
