#include "text/hugging_face/json_tokenizer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "support/json_reader.h"
#include "support/text.h"
#include "text/hugging_face/added_tokens.h"
#include "text/hugging_face/byte_letters.h"
#include "text/hugging_face/characters.h"
#include "text/hugging_face/json_parts.h"
#include "text/hugging_face/piece_decoder.h"
#include "text/hugging_face/piece_model.h"
#include "text/hugging_face/text_rules.h"
#include "text/hugging_face/word_split.h"
#include "text/utf8.h"

namespace resmem {
namespace {

constexpr size_t kMostFileBytes = size_t{256} << 20;
constexpr JsonLimits kLimits = {
    .levels = 16, .keys_in_object = int64_t{1} << 22, .keys = int64_t{1} << 23};

// So much text is encoded at once.
constexpr size_t kMostPartBytes = size_t{64} << 10;

// Tokens that end a text in published models, in this order.
constexpr std::array<std::string_view, 8> kEnds = {
    "</s>",  "<|endoftext|>", "<|end_of_text|>", "<eos>", "<｜end▁of▁sentence｜>", "<|im_end|>",
    "<EOT>", "[SEP]"};

bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Takes off `text` what is encoded next: all of it, or the part before a blank.  Between two
// letters no tokenizer has a piece that holds a blank in its middle.
std::string_view TakePart(std::string_view* text, bool drop_blank) {
  if (text->size() <= kMostPartBytes) return std::exchange(*text, {});
  size_t end = kMostPartBytes;
  const auto is_between_letters = [&](size_t at) {
    return (*text)[at] == ' ' && IsLetter((*text)[at - 1]) && IsLetter((*text)[at + 1]);
  };
  while (end > kMostPartBytes / 2 && !is_between_letters(end)) --end;
  if (!is_between_letters(end)) {
    drop_blank = false;
    const size_t blank = text->substr(0, kMostPartBytes).find_last_of(" \n");
    end = blank == std::string_view::npos || blank == 0 ? kMostPartBytes : blank;
    while ((static_cast<unsigned char>((*text)[end]) & 0xC0) == 0x80) --end;
  }
  const std::string_view part = text->substr(0, end);
  text->remove_prefix(drop_blank ? end + 1 : end);
  return part;
}

class JsonTokenizer : public TextCoder {
 public:
  Status Read(const Json& json);
  Status ReadGpt2(const Json& vocabulary, std::string_view merges);

  TokenizerKind kind() const override { return model_->kind(); }
  int64_t size() const override { return std::ssize(pieces_); }
  std::optional<int32_t> begin_id() const override { return begin_id_; }
  std::optional<int32_t> end_id() const override { return end_id_; }
  std::optional<int32_t> unknown_id() const override { return model_->unknown_id(); }
  std::string_view piece(int32_t id) const override { return At(id).shown; }
  float score(int32_t id) const override {
    const std::vector<double>& scores = model_->vocabulary().scores();
    const auto i = static_cast<size_t>(id);
    return i < scores.size() ? static_cast<float>(scores[i]) : 0;
  }
  bool is_control(int32_t id) const override { return At(id).special; }
  Status Encode(std::string_view text, std::vector<int32_t>* ids) const override;
  Result<std::string> Decode(std::span<const int32_t> ids) const override;

 private:
  struct Piece {
    std::string text;   // of the file
    std::string shown;  // as people read it
    bool special = false;
  };
  const Piece& At(int32_t id) const { return pieces_[static_cast<size_t>(id)]; }
  Status ListPieces();
  Status ReadTemplate(const Json& json);
  void ChooseEnd();
  Status EncodePart(std::string_view part, bool at_front, std::vector<int32_t>* ids) const;
  Status EncodeWords(std::string text, bool at_front, WorkLimit* limit,
                     std::vector<int32_t>* ids) const;

  TextRules rules_;
  WordSplit split_;
  std::unique_ptr<PieceModel> model_;
  AddedTokens added_;
  PieceDecoder decoder_;
  std::vector<Piece> pieces_;
  std::optional<int32_t> begin_id_, end_id_;
};

Status JsonTokenizer::Read(const Json& json) {
  const Json* model = FindPart(json, "model");
  if (model == nullptr) {
    return {ErrorCode::kBadData, "is not a tokenizer.json: it has no \"model\""};
  }
  RESMEM_ASSIGN_OR_RETURN(rules_, TextRules::Read(FindPart(json, "normalizer")));
  RESMEM_ASSIGN_OR_RETURN(split_, WordSplit::Read(FindPart(json, "pre_tokenizer")));
  RESMEM_ASSIGN_OR_RETURN(model_, ReadPieceModel(*model));
  RESMEM_ASSIGN_OR_RETURN(added_, AddedTokens::Read(FindPart(json, "added_tokens"), rules_));
  RESMEM_ASSIGN_OR_RETURN(decoder_, PieceDecoder::Read(FindPart(json, "decoder")));
  RESMEM_RETURN_IF_ERROR(ListPieces());
  ChooseEnd();
  const Json* processor = FindPart(json, "post_processor");
  return processor == nullptr ? Status() : ReadTemplate(*processor);
}

Status JsonTokenizer::ReadGpt2(const Json& vocabulary, std::string_view merges) {
  const Json byte_level = {{"type", "ByteLevel"}, {"add_prefix_space", false}};
  RESMEM_ASSIGN_OR_RETURN(split_, WordSplit::Read(&byte_level));
  RESMEM_ASSIGN_OR_RETURN(decoder_, PieceDecoder::Read(&byte_level));
  RESMEM_ASSIGN_OR_RETURN(Vocabulary pieces, Vocabulary::OfObject(vocabulary));
  MergeList pairs;
  for (size_t line_number = 1; !merges.empty(); ++line_number) {
    std::string_view line = merges.substr(0, merges.find('\n'));
    merges.remove_prefix(std::min(line.size() + 1, merges.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || (line_number == 1 && line.starts_with("#version"))) continue;
    const size_t blank = line.find(' ');
    if (blank == std::string_view::npos) {
      return {ErrorCode::kBadData, Text("line ", line_number, " of its merges is no pair")};
    }
    pairs.emplace_back(line.substr(0, blank), line.substr(blank + 1));
  }
  RESMEM_ASSIGN_OR_RETURN(model_, MakeBytePairs(Json::object(), std::move(pieces), pairs));
  if (const auto end = model_->vocabulary().Find("<|endoftext|>")) {
    const Json token = {
        {"id", static_cast<uint64_t>(*end)}, {"content", "<|endoftext|>"}, {"special", true}};
    const Json list = Json::array({token});
    RESMEM_ASSIGN_OR_RETURN(added_, AddedTokens::Read(&list, rules_));
  }
  RESMEM_RETURN_IF_ERROR(ListPieces());
  ChooseEnd();
  return {};
}

Status JsonTokenizer::ListPieces() {
  const std::vector<std::string>& texts = model_->vocabulary().texts();
  pieces_.resize(texts.size());
  for (size_t id = 0; id < texts.size(); ++id) {
    pieces_[id].text = pieces_[id].shown = texts[id];
    if (!decoder_.has_byte_letters()) continue;
    std::string bytes = LettersAsBytes(texts[id]).value_or("");
    if (bytes.empty() || ValidUtf8(bytes) != bytes) continue;  // a part of a character
    pieces_[id].shown.clear();
    for (const char c : bytes) c == ' ' ? pieces_[id].shown += kBlankMark : pieces_[id].shown += c;
  }
  const size_t most = 2 * texts.size() + 65536 + added_.tokens().size();
  for (const AddedToken& token : added_.tokens()) {
    const auto id = static_cast<size_t>(token.id);
    if (id >= most) {
      return {ErrorCode::kBadData, Text("its added token ", token.text, " has the id ", id,
                                        ", the vocabulary has ", texts.size(), " pieces")};
    }
    if (id >= pieces_.size()) pieces_.resize(id + 1);
    pieces_[id] = {token.text, token.text, token.special};
  }
  return {};
}

void JsonTokenizer::ChooseEnd() {
  for (const std::string_view end : kEnds) {
    for (const AddedToken& token : added_.tokens()) {
      if (token.text == end) end_id_ = token.id;
    }
    if (!end_id_) end_id_ = model_->vocabulary().Find(end);
    if (end_id_) return;
  }
}

// Only what a text begins with matters: a document has its own end.
Status JsonTokenizer::ReadTemplate(const Json& json) {
  RESMEM_ASSIGN_OR_RETURN(const std::string type, TypeOf(json, "post-processor"));
  const auto set_begin = [&](const Json& id) {
    if (id.is_number_unsigned() && id.get<uint64_t>() < pieces_.size()) {
      begin_id_ = id.get<int32_t>();
    }
  };
  if (type == "Sequence") {
    const Json* list = FindPart(json, "processors");
    if (list != nullptr && list->is_array()) {
      for (const Json& part : *list) RESMEM_RETURN_IF_ERROR(ReadTemplate(part));
    }
    return {};
  }
  if (type == "BertProcessing" || type == "RobertaProcessing") {  // "cls": ["[CLS]", 101]
    const Json* pair = FindPart(json, "cls");
    if (pair != nullptr && pair->is_array() && pair->size() == 2) set_begin((*pair)[1]);
    return {};
  }
  if (type != "TemplateProcessing") return {};
  const Json* single = FindPart(json, "single");
  if (single == nullptr || !single->is_array() || single->empty()) return {};
  const Json* first = FindPart((*single)[0], "SpecialToken");
  if (first == nullptr) return {};
  RESMEM_ASSIGN_OR_RETURN(const std::string name, ReadWords(*first, "id", ""));
  const Json* tokens = FindPart(json, "special_tokens");
  const Json* token = tokens == nullptr ? nullptr : FindPart(*tokens, name.c_str());
  const Json* ids = token == nullptr ? nullptr : FindPart(*token, "ids");
  if (ids != nullptr && ids->is_array() && !ids->empty()) set_begin((*ids)[0]);
  return {};
}

Status JsonTokenizer::Encode(std::string_view text, std::vector<int32_t>* ids) const {
  const std::string valid = ValidUtf8(text);
  std::string_view rest = valid;
  const bool drop_blank = rules_.puts_blank_in_front() || split_.puts_blank_in_front();
  for (bool at_front = true; !rest.empty(); at_front = false) {
    RESMEM_RETURN_IF_ERROR(EncodePart(TakePart(&rest, drop_blank), at_front, ids));
  }
  return {};
}

Status JsonTokenizer::EncodePart(std::string_view part, bool at_front,
                                 std::vector<int32_t>* ids) const {
  WorkLimit limit;
  const auto add = [&](int32_t id) { ids->push_back(id); };
  const auto encode = [&](std::string_view text, bool first) -> Status {
    if (text.empty()) return {};
    RESMEM_ASSIGN_OR_RETURN(const std::string normalized, rules_.Apply(std::string(text), &limit));
    const auto words = [&](std::string_view between, bool front) {
      return EncodeWords(std::string(between), at_front && first && front, &limit, ids);
    };
    return added_.Split(normalized, true, words, add);
  };
  return added_.Split(part, false, encode, add);
}

Status JsonTokenizer::EncodeWords(std::string text, bool at_front, WorkLimit* limit,
                                  std::vector<int32_t>* ids) const {
  RESMEM_ASSIGN_OR_RETURN(const std::vector<Word> words,
                          split_.Apply({std::move(text), at_front}, limit));
  for (const Word& word : words) {
    RESMEM_RETURN_IF_ERROR(limit->Check());
    RESMEM_RETURN_IF_ERROR(model_->Encode(word.text, ids));
  }
  return {};
}

Result<std::string> JsonTokenizer::Decode(std::span<const int32_t> ids) const {
  std::vector<std::string> texts;
  for (const int32_t id : ids) {
    if (!At(id).special && !At(id).text.empty()) texts.push_back(At(id).text);
  }
  RESMEM_ASSIGN_OR_RETURN(const std::string bytes, decoder_.Decode(std::move(texts)));
  return ValidUtf8(bytes);
}

Status Named(const std::string& name, const Status& status) {
  return status.ok() ? status : Status(status.code(), Text(name, ": ", status.message()));
}

}  // namespace

bool JsonTokenizerFile::is_vocabulary() const {
  return json.is_object() && !json.empty() &&
         std::all_of(json.begin(), json.end(), [](auto& id) { return id.is_number_unsigned(); });
}

Result<JsonTokenizerFile> ReadJsonTokenizerFile(const std::string& name, std::string_view text) {
  if (text.size() > kMostFileBytes) {
    return Status(ErrorCode::kBadData, Text(name, ": has ", text.size(), " bytes, a tokenizer has ",
                                            "at most ", kMostFileBytes));
  }
  auto json = ReadJson(text, kLimits);
  if (!json.ok()) {
    return Status(ErrorCode::kBadData,
                  Text(name, ": is not a tokenizer: ", json.status().message()));
  }
  return JsonTokenizerFile{std::move(json).value()};
}

Result<std::unique_ptr<const TextCoder>> MakeJsonTokenizer(const std::string& name,
                                                           const JsonTokenizerFile& file,
                                                           std::string_view merges) {
  auto tokenizer = std::make_unique<JsonTokenizer>();
  RESMEM_RETURN_IF_ERROR(Named(name, file.is_vocabulary() ? tokenizer->ReadGpt2(file.json, merges)
                                                          : tokenizer->Read(file.json)));
  return std::unique_ptr<const TextCoder>(std::move(tokenizer));
}

}  // namespace resmem
