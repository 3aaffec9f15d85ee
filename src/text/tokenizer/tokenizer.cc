#include "resmem/lm/tokenizer.h"

#include <algorithm>
#include <array>
#include <cfloat>

#include "format/checksum.h"
#include "support/check.h"
#include "support/file_system.h"
#include "support/guard.h"
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

}  // namespace

const char* TokenizerKindName(TokenizerKind kind) {
  return kind == TokenizerKind::kUnigram ? "unigram" : "bpe";
}

struct Tokenizer::State {
  ModelFile file;
  std::string fingerprint;
  std::optional<int32_t> end_id;
  std::optional<PieceTrie> trie, user_defined;
  std::optional<Normalizer> normalizer;
  std::array<int32_t, 256> byte_ids{};  // with byte fallback
  PieceTable table;

  Status Prepare(const std::string& name);
  Status EncodeLine(std::string_view line, std::vector<int32_t>* ids) const;
  const Piece& At(int32_t id) const { return file.pieces[static_cast<size_t>(id)]; }
};

Status Tokenizer::State::Prepare(const std::string& name) {
  std::vector<std::pair<std::string_view, int32_t>> in_text, user;
  table.lowest_score = FLT_MAX;
  table.highest_score = FLT_MIN;  // as SentencePiece starts: a little above 0
  for (size_t i = 0; i < file.pieces.size(); ++i) {
    const Piece& piece = file.pieces[i];
    const auto id = static_cast<int32_t>(i);
    if (IsInText(piece)) in_text.emplace_back(piece.text, id);
    switch (piece.type) {
      case PieceType::kNormal:
        table.lowest_score = std::min(table.lowest_score, piece.score);
        table.highest_score = std::max(table.highest_score, piece.score);
        break;
      case PieceType::kUserDefined:
        user.emplace_back(piece.text, id);
        break;
      case PieceType::kUnknown:
        table.unknown_id = id;
        break;
      case PieceType::kControl:
        if (piece.text == file.end_piece) end_id = id;
        break;
      case PieceType::kByte:
        byte_ids[static_cast<size_t>(ByteOfPiece(piece.text))] = id;
        break;
      case PieceType::kUnused:
        break;
    }
  }
  trie.emplace(std::move(in_text));
  if (!user.empty()) user_defined.emplace(std::move(user));
  table.pieces = &file.pieces;
  table.trie = &*trie;
  table.user_defined = user_defined ? &*user_defined : nullptr;
  RESMEM_ASSIGN_OR_RETURN(normalizer, Normalizer::Make(name, file.normalizer, table.user_defined));
  return {};
}

Status Tokenizer::State::EncodeLine(std::string_view line, std::vector<int32_t>* ids) const {
  RESMEM_ASSIGN_OR_RETURN(const std::string text, normalizer->Normalize(line));
  const std::vector<FoundPiece> found =
      file.kind == TokenizerKind::kUnigram ? SegmentUnigram(table, text) : SegmentBpe(table, text);
  size_t begin = 0;
  bool after_unknown = false;
  for (const FoundPiece& piece : found) {
    const bool unknown = piece.id == table.unknown_id;
    if (unknown && file.byte_fallback) {
      for (const char byte : std::string_view(text).substr(begin, piece.bytes)) {
        ids->push_back(byte_ids[static_cast<uint8_t>(byte)]);
      }
    } else if (!unknown || !after_unknown) {  // a run of unknown characters is one token
      ids->push_back(piece.id);
    }
    after_unknown = unknown;
    begin += piece.bytes;
  }
  return {};
}

Tokenizer::Tokenizer(std::unique_ptr<const State> state) : state_(std::move(state)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

Result<Tokenizer> Tokenizer::Open(const std::string& path) try {
  RESMEM_ASSIGN_OR_RETURN(const MappedFile file, FileSystem::Posix().Map(path));
  return Parse(path, file.bytes());
} catch (...) {
  return CaughtException(Text("open ", path));
}

Result<Tokenizer> Tokenizer::Parse(const std::string& name, std::span<const std::byte> bytes) try {
  auto state = std::make_unique<State>();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  RESMEM_ASSIGN_OR_RETURN(state->file, ParseModelFile(name, text));
  state->fingerprint = Digest(bytes);
  RESMEM_RETURN_IF_ERROR(state->Prepare(name));
  return Tokenizer(std::move(state));
} catch (...) {
  return CaughtException(Text("read ", name));
}

TokenizerKind Tokenizer::kind() const {
  return state_->file.kind;
}

int64_t Tokenizer::size() const {
  return static_cast<int64_t>(state_->file.pieces.size());
}

const std::string& Tokenizer::fingerprint() const {
  return state_->fingerprint;
}

std::optional<int32_t> Tokenizer::end_id() const {
  return state_->end_id;
}

int32_t Tokenizer::unknown_id() const {
  return state_->table.unknown_id;
}

std::string_view Tokenizer::piece(int32_t id) const {
  RESMEM_DCHECK(id >= 0 && id < size());
  return state_->At(id).text;
}

float Tokenizer::score(int32_t id) const {
  RESMEM_DCHECK(id >= 0 && id < size());
  return state_->At(id).score;
}

bool Tokenizer::is_control(int32_t id) const {
  RESMEM_DCHECK(id >= 0 && id < size());
  return state_->At(id).type == PieceType::kControl;
}

Status Tokenizer::Encode(std::string_view text, std::vector<int32_t>* ids) const try {
  while (!text.empty()) RESMEM_RETURN_IF_ERROR(state_->EncodeLine(TakeLine(&text), ids));
  return {};
} catch (...) {
  return CaughtException("encode the text");
}

Result<std::string> Tokenizer::Decode(std::span<const int32_t> ids) const try {
  const NormalizerRules& rules = state_->file.normalizer;
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
    const Piece& piece = state_->At(id);
    if (piece.type == PieceType::kByte) {
      bytes += static_cast<char>(ByteOfPiece(piece.text));
      continue;
    }
    add_bytes();
    if (took_blank || !text.empty()) at_front = false;
    took_blank = false;
    if (piece.type == PieceType::kControl) continue;
    if (piece.type == PieceType::kUnknown) {
      text += state_->file.unknown_text;
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
} catch (...) {
  return CaughtException("decode the ids");
}

}  // namespace resmem
