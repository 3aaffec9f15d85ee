#include "resmem/lm/tokenizer.h"

#include <sys/stat.h>

#include "format/checksum.h"
#include "support/check.h"
#include "support/file_system.h"
#include "support/guard.h"
#include "text/hugging_face/json_tokenizer.h"
#include "text/tokenizer/sentence_piece.h"

namespace resmem {
namespace {

std::string_view AsText(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// What a JSON document begins with; a SentencePiece model begins with the tag of its first piece.
bool IsJson(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || text[first] != '{') return false;
  const size_t second = text.find_first_not_of(" \t\r\n", first + 1);
  return second != std::string_view::npos && (text[second] == '"' || text[second] == '}');
}

bool IsFolder(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

std::string InFolder(const std::string& folder, const char* name) {
  return folder.ends_with('/') ? folder + name : folder + "/" + name;
}

// A model's folder, as it is published, or one file.
std::string FileOf(const std::string& path) {
  if (!IsFolder(path)) return path;
  for (const char* name : {"tokenizer.json", "spiece.model", "tokenizer.model", "vocab.json"}) {
    std::string file = InFolder(path, name);
    if (FileSystem::Posix().Exists(file)) return file;
  }
  return InFolder(path, "tokenizer.json");
}

// GPT-2's vocabulary has its merges in a file of their own; empty where there is none of a known
// name.
std::string MergesBeside(const std::string& vocabulary) {
  const size_t slash = vocabulary.rfind('/') + 1;  // 0 where there is none
  const std::string folder = vocabulary.substr(0, slash), name = vocabulary.substr(slash);
  const auto replaced = [&](const char* from, const char* to) {
    const size_t at = name.rfind(from);
    if (at == std::string::npos) return std::string();
    return folder + std::string(name).replace(at, std::string_view(from).size(), to);
  };
  for (const std::string& path :
       {replaced("vocab.json", "merges.txt"), replaced("encoder.json", "vocab.bpe"),
        folder + "merges.txt", folder + "vocab.bpe"}) {
    if (!path.empty() && FileSystem::Posix().Exists(path)) return path;
  }
  return {};
}

}  // namespace

const char* TokenizerKindName(TokenizerKind kind) {
  switch (kind) {
    case TokenizerKind::kUnigram:
      return "unigram";
    case TokenizerKind::kBpe:
      return "bpe";
    case TokenizerKind::kWordPiece:
      return "wordpiece";
    case TokenizerKind::kWordLevel:
      return "words";
  }
  return "unknown";
}

Tokenizer::Tokenizer(std::unique_ptr<const TextCoder> coder, std::string fingerprint)
    : coder_(std::move(coder)), fingerprint_(std::move(fingerprint)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

Result<Tokenizer> Tokenizer::Open(const std::string& path) try {
  const std::string name = FileOf(path);
  RESMEM_ASSIGN_OR_RETURN(const MappedFile file, FileSystem::Posix().Map(name));
  const std::string_view text = AsText(file.bytes());
  if (!IsJson(text)) return Parse(name, file.bytes());
  RESMEM_ASSIGN_OR_RETURN(const JsonTokenizerFile json, ReadJsonTokenizerFile(name, text));
  if (!json.is_vocabulary()) {
    RESMEM_ASSIGN_OR_RETURN(auto coder, MakeJsonTokenizer(name, json, {}));
    return Tokenizer(std::move(coder), Digest(file.bytes()));
  }
  const std::string merges_path = MergesBeside(name);
  if (merges_path.empty()) {
    return Status(ErrorCode::kNotFound,
                  Text(name, ": is a vocabulary without its merges; put merges.txt beside it"));
  }
  RESMEM_ASSIGN_OR_RETURN(const MappedFile merges, FileSystem::Posix().Map(merges_path));
  RESMEM_ASSIGN_OR_RETURN(auto coder, MakeJsonTokenizer(name, json, AsText(merges.bytes())));
  const std::string both = Digest(file.bytes()) + Digest(merges.bytes());
  return Tokenizer(std::move(coder), Digest(std::as_bytes(std::span(both))));
} catch (...) {
  return CaughtException(Text("open ", path));
}

Result<Tokenizer> Tokenizer::Parse(const std::string& name, std::span<const std::byte> bytes) try {
  const std::string_view text = AsText(bytes);
  if (!IsJson(text)) {
    RESMEM_ASSIGN_OR_RETURN(auto coder, ReadSentencePiece(name, text));
    return Tokenizer(std::move(coder), Digest(bytes));
  }
  RESMEM_ASSIGN_OR_RETURN(const JsonTokenizerFile json, ReadJsonTokenizerFile(name, text));
  if (json.is_vocabulary()) {
    return Status(ErrorCode::kBadData,
                  Text(name, ": is a vocabulary without its merges; open both as files"));
  }
  RESMEM_ASSIGN_OR_RETURN(auto coder, MakeJsonTokenizer(name, json, {}));
  return Tokenizer(std::move(coder), Digest(bytes));
} catch (...) {
  return CaughtException(Text("read ", name));
}

TokenizerKind Tokenizer::kind() const {
  return coder_->kind();
}

int64_t Tokenizer::size() const {
  return coder_->size();
}

const std::string& Tokenizer::fingerprint() const {
  return fingerprint_;
}

std::optional<int32_t> Tokenizer::begin_id() const {
  return coder_->begin_id();
}

std::optional<int32_t> Tokenizer::end_id() const {
  return coder_->end_id();
}

std::optional<int32_t> Tokenizer::unknown_id() const {
  return coder_->unknown_id();
}

std::string_view Tokenizer::piece(int32_t id) const {
  RESMEM_DCHECK(id >= 0 && id < size());
  return coder_->piece(id);
}

std::optional<int32_t> Tokenizer::FindPiece(std::string_view text) const {
  for (int32_t id = 0; id < size(); ++id) {
    if (piece(id) == text) return id;
  }
  return std::nullopt;
}

float Tokenizer::score(int32_t id) const {
  RESMEM_DCHECK(id >= 0 && id < size());
  return coder_->score(id);
}

bool Tokenizer::is_control(int32_t id) const {
  RESMEM_DCHECK(id >= 0 && id < size());
  return coder_->is_control(id);
}

Status Tokenizer::Encode(std::string_view text, std::vector<int32_t>* ids) const try {
  return coder_->Encode(text, ids);
} catch (...) {
  return CaughtException("encode the text");
}

Status Tokenizer::EncodeFromBeginning(std::string_view text, std::vector<int32_t>* ids) const try {
  const size_t before = ids->size();
  if (begin_id()) ids->push_back(*begin_id());
  const size_t front = ids->size();
  RESMEM_RETURN_IF_ERROR(Encode(text, ids));
  if (ids->size() == front) ids->resize(before);
  return {};
} catch (...) {
  return CaughtException("encode the text");
}

Result<std::string> Tokenizer::Decode(std::span<const int32_t> ids) const try {
  for (const int32_t id : ids) {
    if (id >= 0 && id < size()) continue;
    return Status(ErrorCode::kInvalidArgument,
                  Text("the id ", id, " is not one of the tokenizer's ", size()));
  }
  return coder_->Decode(ids);
} catch (...) {
  return CaughtException("decode the ids");
}

}  // namespace resmem
