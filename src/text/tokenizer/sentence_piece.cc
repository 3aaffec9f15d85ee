#include "text/tokenizer/sentence_piece.h"

#include <algorithm>
#include <array>
#include <cfloat>
#include <optional>
#include <utility>

#include "support/text.h"
#include "text/tokenizer/model_file.h"
#include "text/tokenizer/normalizer.h"
#include "text/tokenizer/segment.h"
#include "text/utf8.h"

namespace resmem {
namespace {

// So much text is encoded at once.
constexpr size_t kMaxLineBytes = size_t{64} << 10;

// Takes the next line off `text`, or of a long one the part up to its last blank.
std::string_view TakeLine(std::string_view* text) {
  std::string_view line = text->substr(0, std::min(text->find('\n'), text->size()));
  if (line.size() <= kMaxLineBytes) {
    text->remove_prefix(std::min(line.size() + 1, text->size()));
    return line;
  }
  const size_t blank = line.substr(0, kMaxLineBytes).rfind(' ');
  if (blank != std::string_view::npos && blank > 0) {
    line = line.substr(0, blank);
    text->remove_prefix(blank + 1);
    return line;
  }
  size_t end = kMaxLineBytes;
  while (end > kMaxLineBytes - 4 && (static_cast<uint8_t>(line[end]) & 0xC0) == 0x80) --end;
  line = line.substr(0, end);
  text->remove_prefix(end);
  return line;
}

class SentencePiece : public TextCoder {
 public:
  explicit SentencePiece(ModelFile file) : file_(std::move(file)) {}
  Status Prepare(const std::string& name);

  TokenizerKind kind() const override { return file_.kind; }
  int64_t size() const override { return static_cast<int64_t>(file_.pieces.size()); }
  std::optional<int32_t> begin_id() const override { return std::nullopt; }
  std::optional<int32_t> end_id() const override { return end_id_; }
  std::optional<int32_t> unknown_id() const override { return table_.unknown_id; }
  std::string_view piece(int32_t id) const override { return At(id).text; }
  float score(int32_t id) const override { return At(id).score; }
  bool is_control(int32_t id) const override { return At(id).type == PieceType::kControl; }
  Status Encode(std::string_view text, std::vector<int32_t>* ids) const override;
  Result<std::string> Decode(std::span<const int32_t> ids) const override;

 private:
  Status EncodeLine(std::string_view line, std::vector<int32_t>* ids) const;
  const Piece& At(int32_t id) const { return file_.pieces[static_cast<size_t>(id)]; }

  ModelFile file_;
  std::optional<int32_t> end_id_;
  std::optional<PieceTrie> trie_, user_defined_;
  std::optional<Normalizer> normalizer_;
  std::array<int32_t, 256> byte_ids_{};  // with byte fallback
  PieceTable table_;
};

Status SentencePiece::Prepare(const std::string& name) {
  std::vector<std::pair<std::string_view, int32_t>> in_text, user;
  table_.lowest_score = FLT_MAX;
  table_.highest_score = FLT_MIN;  // as SentencePiece starts: a little above 0
  for (size_t i = 0; i < file_.pieces.size(); ++i) {
    const Piece& piece = file_.pieces[i];
    const auto id = static_cast<int32_t>(i);
    if (IsInText(piece)) in_text.emplace_back(piece.text, id);
    switch (piece.type) {
      case PieceType::kNormal:
        table_.lowest_score = std::min(table_.lowest_score, piece.score);
        table_.highest_score = std::max(table_.highest_score, piece.score);
        break;
      case PieceType::kUserDefined:
        user.emplace_back(piece.text, id);
        break;
      case PieceType::kUnknown:
        table_.unknown_id = id;
        break;
      case PieceType::kControl:
        if (piece.text == file_.end_piece) end_id_ = id;
        break;
      case PieceType::kByte:
        byte_ids_[static_cast<size_t>(ByteOfPiece(piece.text))] = id;
        break;
      case PieceType::kUnused:
        break;
    }
  }
  trie_.emplace(std::move(in_text));
  if (!user.empty()) user_defined_.emplace(std::move(user));
  table_.pieces = &file_.pieces;
  table_.trie = &*trie_;
  table_.user_defined = user_defined_ ? &*user_defined_ : nullptr;
  RESMEM_ASSIGN_OR_RETURN(normalizer_,
                          Normalizer::Make(name, file_.normalizer, table_.user_defined));
  return {};
}

Status SentencePiece::EncodeLine(std::string_view line, std::vector<int32_t>* ids) const {
  RESMEM_ASSIGN_OR_RETURN(const std::string text, normalizer_->Normalize(line));
  const std::vector<FoundPiece> found = file_.kind == TokenizerKind::kUnigram
                                            ? SegmentUnigram(table_, text)
                                            : SegmentBpe(table_, text);
  size_t begin = 0;
  bool after_unknown = false;
  for (const FoundPiece& piece : found) {
    const bool unknown = piece.id == table_.unknown_id;
    if (unknown && file_.byte_fallback) {
      for (const char byte : std::string_view(text).substr(begin, piece.bytes)) {
        ids->push_back(byte_ids_[static_cast<uint8_t>(byte)]);
      }
    } else if (!unknown || !after_unknown) {  // a run of unknown characters is one token
      ids->push_back(piece.id);
    }
    after_unknown = unknown;
    begin += piece.bytes;
  }
  return {};
}

Status SentencePiece::Encode(std::string_view text, std::vector<int32_t>* ids) const {
  while (!text.empty()) RESMEM_RETURN_IF_ERROR(EncodeLine(TakeLine(&text), ids));
  return {};
}

Result<std::string> SentencePiece::Decode(std::span<const int32_t> ids) const {
  const NormalizerRules& rules = file_.normalizer;
  std::string text, bytes;
  const auto add_bytes = [&] {  // of characters that were split into bytes
    for (std::string_view rest = bytes; !rest.empty();) {
      const size_t length = Utf8Length(rest);
      text += length == 0 ? kReplacementCharacter : rest.substr(0, length);
      rest.remove_prefix(std::max<size_t>(length, 1));
    }
    bytes.clear();
  };
  bool at_front = true;  // where the blank that encoding added is taken away
  bool took_blank = false;
  for (const int32_t id : ids) {
    if (id < 0 || id >= size()) {
      return Status(ErrorCode::kInvalidArgument,
                    Text("the id ", id, " is not one of the tokenizer's ", size()));
    }
    const Piece& piece = At(id);
    if (piece.type == PieceType::kByte) {
      bytes += static_cast<char>(ByteOfPiece(piece.text));
      continue;
    }
    add_bytes();
    if (took_blank || !text.empty()) at_front = false;
    took_blank = false;
    if (piece.type == PieceType::kControl) continue;
    if (piece.type == PieceType::kUnknown) {
      text += file_.unknown_text;
      continue;
    }
    std::string_view rest = piece.text;
    if (at_front && (rules.add_dummy_prefix || rules.remove_extra_blanks) &&
        rest.starts_with(kBlankSymbol)) {
      rest.remove_prefix(kBlankSymbol.size());
      took_blank = !rules.remove_extra_blanks;  // then every blank in front goes
    }
    while (!rest.empty()) {
      const bool blank = rest.starts_with(kBlankSymbol);
      text += blank ? ' ' : rest.front();
      rest.remove_prefix(blank ? kBlankSymbol.size() : 1);
    }
  }
  add_bytes();
  return text;
}

}  // namespace

Result<std::unique_ptr<const TextCoder>> ReadSentencePiece(const std::string& name,
                                                           std::string_view bytes) {
  RESMEM_ASSIGN_OR_RETURN(ModelFile file, ParseModelFile(name, bytes));
  auto coder = std::make_unique<SentencePiece>(std::move(file));
  RESMEM_RETURN_IF_ERROR(coder->Prepare(name));
  return std::unique_ptr<const TextCoder>(std::move(coder));
}

}  // namespace resmem
