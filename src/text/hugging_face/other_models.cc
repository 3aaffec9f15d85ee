// Unigram, WordPiece and whole words.
#include <algorithm>
#include <cmath>
#include <limits>

#include "support/text.h"
#include "text/hugging_face/json_parts.h"
#include "text/hugging_face/piece_model.h"
#include "text/tokenizer/piece_trie.h"
#include "text/utf8.h"

namespace resmem {
namespace {

Status NoUnknownPiece() {
  return {ErrorCode::kBadData,
          "the text has a character that no piece of the tokenizer holds, and none stands for what "
          "is unknown"};
}

Result<Vocabulary> ReadVocabulary(const Json& model) {
  const Json* vocabulary = FindPart(model, "vocab");
  if (vocabulary == nullptr) return Status(ErrorCode::kBadData, "its model has no \"vocab\"");
  return vocabulary->is_array() ? Vocabulary::OfList(*vocabulary)
                                : Vocabulary::OfObject(*vocabulary);
}

// The id of the piece that "unk_token" names.
Result<int32_t> ReadUnknown(const Json& model, const char* usual, const Vocabulary& vocabulary) {
  RESMEM_ASSIGN_OR_RETURN(const std::string text, ReadWords(model, "unk_token", usual));
  const auto id = vocabulary.Find(text);
  if (id) return *id;
  return Status(ErrorCode::kBadData, Text("its vocabulary lacks the unknown piece ", text));
}

// The path through the word of the largest sum of scores.  As SegmentUnigram(), but in double
// precision, as these files are read by their own library.
class Unigram : public PieceModel {
 public:
  explicit Unigram(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {}

  Status Read(const Json& model) {
    std::vector<std::pair<std::string_view, int32_t>> pieces;
    double lowest = std::numeric_limits<double>::infinity();
    for (size_t id = 0; id < vocabulary_.texts().size(); ++id) {
      const std::string& text = vocabulary_.texts()[id];
      const double score = vocabulary_.scores()[id];
      if (!std::isfinite(score)) return {ErrorCode::kBadData, "its scores are not all numbers"};
      lowest = std::min(lowest, score);
      if (!text.empty() && vocabulary_.Find(text) == static_cast<int32_t>(id)) {
        pieces.emplace_back(text, static_cast<int32_t>(id));
      }
    }
    constexpr double kUnknownPenalty = 10;
    unknown_score_ = lowest - kUnknownPenalty;
    trie_.emplace(std::move(pieces));
    if (FindPart(model, "unk_id") != nullptr) {
      RESMEM_ASSIGN_OR_RETURN(const int64_t id, ReadCount(model, "unk_id", 0));
      if (id >= std::ssize(vocabulary_.texts())) {
        return {ErrorCode::kBadData, Text("its \"unk_id\" is ", id, ", beyond the vocabulary")};
      }
      unknown_id_ = static_cast<int32_t>(id);
    }
    RESMEM_ASSIGN_OR_RETURN(const bool byte_fallback, ReadFlag(model, "byte_fallback", false));
    if (byte_fallback) bytes_ = vocabulary_.Bytes();
    return {};
  }

  Status Encode(std::string_view word, std::vector<int32_t>* ids) const override {
    struct PathEnd {
      int32_t id = kUnknown;
      double score = 0;
      int64_t begin = -1;  // -1: no path ends here
    };
    std::vector<PathEnd> ends(word.size() + 1);
    for (size_t begin = 0; begin < word.size();) {
      const double score_here = ends[begin].score;
      const auto offer = [&](size_t bytes, int32_t id, double score) {
        PathEnd& end = ends[begin + bytes];
        if (end.begin >= 0 && !(score + score_here > end.score)) return;
        end = {id, score + score_here, static_cast<int64_t>(begin)};
      };
      const size_t character = Utf8LengthBySight(word.substr(begin));
      bool has_character = false;
      trie_->ForEachPrefix(word.substr(begin), [&](size_t bytes, int32_t id) {
        offer(bytes, id, vocabulary_.scores()[static_cast<size_t>(id)]);
        has_character |= bytes == character;
      });
      if (!has_character) offer(character, kUnknown, unknown_score_);
      begin += character;
    }
    std::vector<std::pair<int32_t, size_t>> path;  // backwards: id and where it begins
    for (auto end = static_cast<int64_t>(word.size()); end > 0;) {
      const PathEnd& piece = ends[static_cast<size_t>(end)];
      path.emplace_back(piece.id, static_cast<size_t>(piece.begin));
      end = piece.begin;
    }
    std::reverse(path.begin(), path.end());
    for (size_t i = 0; i < path.size(); ++i) {
      if (path[i].first != kUnknown && path[i].first != unknown_id_) {
        ids->push_back(path[i].first);
        continue;
      }
      size_t next = i + 1;  // a run of unknown characters is one token
      while (next < path.size() &&
             (path[next].first == kUnknown || path[next].first == unknown_id_)) {
        ++next;
      }
      const size_t end = next < path.size() ? path[next].second : word.size();
      RESMEM_RETURN_IF_ERROR(AddUnknown(word.substr(path[i].second, end - path[i].second), ids));
      i = next - 1;
    }
    return {};
  }

  TokenizerKind kind() const override { return TokenizerKind::kUnigram; }
  const Vocabulary& vocabulary() const override { return vocabulary_; }
  std::optional<int32_t> unknown_id() const override { return unknown_id_; }

 private:
  static constexpr int32_t kUnknown = -1;

  Status AddUnknown(std::string_view text, std::vector<int32_t>* ids) const {
    if (const auto id = vocabulary_.Find(text)) {
      ids->push_back(*id);
    } else if (!AddBytes(bytes_, text, ids)) {
      if (!unknown_id_) return NoUnknownPiece();
      ids->push_back(*unknown_id_);
    }
    return {};
  }

  Vocabulary vocabulary_;
  std::optional<PieceTrie> trie_;
  double unknown_score_ = 0;
  std::optional<int32_t> unknown_id_;
  std::vector<int32_t> bytes_;  // with byte fallback
};

// The longest piece from the left, again and again; those behind the first have a prefix.
class WordPiece : public PieceModel {
 public:
  explicit WordPiece(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {}

  Status Read(const Json& model) {
    RESMEM_ASSIGN_OR_RETURN(unknown_id_, ReadUnknown(model, "[UNK]", vocabulary_));
    RESMEM_ASSIGN_OR_RETURN(const std::string prefix,
                            ReadWords(model, "continuing_subword_prefix", "##"));
    RESMEM_ASSIGN_OR_RETURN(most_characters_, ReadCount(model, "max_input_chars_per_word", 100));
    std::vector<std::pair<std::string_view, int32_t>> first, later;
    for (size_t i = 0; i < vocabulary_.texts().size(); ++i) {
      const std::string_view text = vocabulary_.texts()[i];
      const auto id = static_cast<int32_t>(i);
      if (text.empty() || vocabulary_.Find(text) != id) continue;
      first.emplace_back(text, id);
      if (text.size() > prefix.size() && text.starts_with(prefix)) {
        later.emplace_back(text.substr(prefix.size()), id);
      }
    }
    first_.emplace(std::move(first));
    later_.emplace(std::move(later));
    return {};
  }

  Status Encode(std::string_view word, std::vector<int32_t>* ids) const override {
    const auto characters = std::count_if(word.begin(), word.end(), [](char c) {
      return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    });
    const size_t before = ids->size();
    bool known = characters <= most_characters_;
    for (size_t begin = 0; known && begin < word.size();) {
      size_t longest = 0;
      int32_t best = 0;
      (begin == 0 ? *first_ : *later_)
          .ForEachPrefix(word.substr(begin), [&](size_t bytes, int32_t id) {
            longest = bytes;
            best = id;
          });
      known = longest > 0;
      if (known) ids->push_back(best);
      begin += longest;
    }
    if (known) return {};
    ids->resize(before);
    ids->push_back(unknown_id_);
    return {};
  }

  TokenizerKind kind() const override { return TokenizerKind::kWordPiece; }
  const Vocabulary& vocabulary() const override { return vocabulary_; }
  std::optional<int32_t> unknown_id() const override { return unknown_id_; }

 private:
  Vocabulary vocabulary_;
  std::optional<PieceTrie> first_, later_;
  int32_t unknown_id_ = 0;
  int64_t most_characters_ = 0;
};

class WordLevel : public PieceModel {
 public:
  WordLevel(Vocabulary vocabulary, int32_t unknown_id)
      : vocabulary_(std::move(vocabulary)), unknown_id_(unknown_id) {}
  Status Encode(std::string_view word, std::vector<int32_t>* ids) const override {
    ids->push_back(vocabulary_.Find(word).value_or(unknown_id_));
    return {};
  }
  TokenizerKind kind() const override { return TokenizerKind::kWordLevel; }
  const Vocabulary& vocabulary() const override { return vocabulary_; }
  std::optional<int32_t> unknown_id() const override { return unknown_id_; }

 private:
  Vocabulary vocabulary_;
  int32_t unknown_id_;
};

template <typename Model>
Result<std::unique_ptr<PieceModel>> ReadBy(const Json& json) {
  RESMEM_ASSIGN_OR_RETURN(Vocabulary vocabulary, ReadVocabulary(json));
  auto model = std::make_unique<Model>(std::move(vocabulary));
  RESMEM_RETURN_IF_ERROR(model->Read(json));
  return std::unique_ptr<PieceModel>(std::move(model));
}

}  // namespace

Result<std::unique_ptr<PieceModel>> ReadUnigram(const Json& model) {
  const Json* vocabulary = FindPart(model, "vocab");
  if (vocabulary == nullptr || !vocabulary->is_array()) {
    return Status(ErrorCode::kBadData, "its vocabulary is not a list of pieces and scores");
  }
  return ReadBy<Unigram>(model);
}

Result<std::unique_ptr<PieceModel>> ReadWordPiece(const Json& model) {
  return ReadBy<WordPiece>(model);
}

Result<std::unique_ptr<PieceModel>> ReadWordLevel(const Json& model) {
  RESMEM_ASSIGN_OR_RETURN(Vocabulary vocabulary, ReadVocabulary(model));
  RESMEM_ASSIGN_OR_RETURN(const int32_t unknown, ReadUnknown(model, "<unk>", vocabulary));
  return std::unique_ptr<PieceModel>(new WordLevel(std::move(vocabulary), unknown));
}

}  // namespace resmem
