#include <algorithm>

#include "support/text.h"
#include "text/hugging_face/json_parts.h"
#include "text/hugging_face/piece_model.h"
#include "text/tokenizer/model_file.h"

namespace resmem {
namespace {

constexpr size_t kMostPieces = size_t{1} << 22;
constexpr size_t kMostPieceBytes = 4096;

Status WrongVocabulary(const std::string& problem) {
  return {ErrorCode::kBadData, "its vocabulary " + problem};
}

}  // namespace

Status Vocabulary::Add(std::string_view text, uint64_t id, size_t count) {
  // A few ids are left to added tokens.
  const size_t most = 2 * count + 65536;
  if (id >= most) return WrongVocabulary(Text("has ", count, " pieces and the id ", id));
  if (text.size() > kMostPieceBytes) {
    return WrongVocabulary(
        Text("has a piece of ", text.size(), " bytes; allowed are ", kMostPieceBytes));
  }
  if (id >= texts_.size()) texts_.resize(id + 1);
  if (!texts_[id].empty()) return WrongVocabulary(Text("has the id ", id, " twice"));
  texts_[id] = text;
  return {};
}

Result<Vocabulary> Vocabulary::OfObject(const Json& json) {
  if (!json.is_object() || json.empty()) return WrongVocabulary("is not an object of pieces");
  if (json.size() > kMostPieces) return WrongVocabulary(Text("has ", json.size(), " pieces"));
  Vocabulary vocabulary;
  for (const auto& [text, id] : json.items()) {
    if (!id.is_number_unsigned()) {
      return WrongVocabulary(Text("gives the piece \"", text, "\" no id"));
    }
    RESMEM_RETURN_IF_ERROR(vocabulary.Add(text, id.get<uint64_t>(), json.size()));
  }
  vocabulary.ids_.reserve(json.size());
  for (size_t id = 0; id < vocabulary.texts_.size(); ++id) {
    const std::string& text = vocabulary.texts_[id];
    if (!text.empty()) vocabulary.ids_.emplace(text, static_cast<int32_t>(id));
  }
  return vocabulary;
}

Result<Vocabulary> Vocabulary::OfList(const Json& json) {
  if (!json.is_array() || json.empty()) return WrongVocabulary("is not a list of pieces");
  if (json.size() > kMostPieces) return WrongVocabulary(Text("has ", json.size(), " pieces"));
  Vocabulary vocabulary;
  for (const Json& entry : json) {
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number()) {
      return WrongVocabulary(
          Text("has something else than a text and a score at ", vocabulary.scores_.size()));
    }
    RESMEM_RETURN_IF_ERROR(vocabulary.Add(entry[0].get_ref<const std::string&>(),
                                          vocabulary.scores_.size(), json.size()));
    vocabulary.scores_.push_back(entry[1].get<double>());
  }
  vocabulary.texts_.resize(vocabulary.scores_.size());
  vocabulary.ids_.reserve(json.size());
  for (size_t id = 0; id < vocabulary.texts_.size(); ++id) {
    vocabulary.ids_[vocabulary.texts_[id]] = static_cast<int32_t>(id);
  }
  return vocabulary;
}

std::optional<int32_t> Vocabulary::Find(std::string_view text) const {
  const auto found = ids_.find(text);
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<int32_t> Vocabulary::Bytes() const {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::vector<int32_t> ids;
  for (size_t byte = 0; byte < 256; ++byte) {
    const std::string text = std::string("<0x") + kDigits[byte / 16] + kDigits[byte % 16] + ">";
    ids.push_back(Find(text).value_or(-1));
  }
  return ids;
}

bool AddBytes(const std::vector<int32_t>& bytes, std::string_view text, std::vector<int32_t>* ids) {
  const auto id_of = [&](char byte) { return bytes[static_cast<unsigned char>(byte)]; };
  if (bytes.empty() ||
      std::any_of(text.begin(), text.end(), [&](char b) { return id_of(b) < 0; })) {
    return false;
  }
  for (const char byte : text) ids->push_back(id_of(byte));
  return true;
}

Result<std::unique_ptr<PieceModel>> ReadPieceModel(const Json& model) {
  RESMEM_ASSIGN_OR_RETURN(std::string type, ReadWords(model, "type", ""));
  const Json* vocabulary = FindPart(model, "vocab");
  if (vocabulary == nullptr) return WrongVocabulary("is missing");
  const Json* merges = FindPart(model, "merges");
  // Older files do not say what they are.
  if (type.empty()) {
    type = merges != nullptr ? "BPE" : vocabulary->is_array() ? "Unigram" : "WordPiece";
  }
  if (type == "Unigram") return ReadUnigram(model);
  if (type == "WordPiece") return ReadWordPiece(model);
  if (type == "WordLevel") return ReadWordLevel(model);
  if (type != "BPE") return UnknownType("model", type);
  RESMEM_ASSIGN_OR_RETURN(Vocabulary pieces, Vocabulary::OfObject(*vocabulary));
  MergeList pairs;
  if (merges == nullptr || !merges->is_array()) {
    return Status(ErrorCode::kBadData, "its model has no list of merges");
  }
  pairs.reserve(merges->size());
  for (const Json& merge : *merges) {
    if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
      pairs.emplace_back(merge[0].get_ref<const std::string&>(),
                         merge[1].get_ref<const std::string&>());
      continue;
    }
    const std::string_view line =
        merge.is_string() ? std::string_view(merge.get_ref<const std::string&>()) : "";
    const size_t blank = line.find(' ');
    if (blank == std::string_view::npos) {
      return Status(ErrorCode::kBadData, Text("its merge ", pairs.size(), " is no pair of pieces"));
    }
    pairs.emplace_back(line.substr(0, blank), line.substr(blank + 1));
  }
  return MakeBytePairs(model, std::move(pieces), pairs);
}

}  // namespace resmem
