#include "memories/memory_model.h"

#include <algorithm>
#include <filesystem>

#include "operation/log.h"
#include "resmem/lm/token_memory.h"
#include "resmem/models/bundle.h"
#include "resmem/models/image_bytes.h"

namespace resmem::serve {
namespace {

constexpr int64_t kContextTokens = 16;  // shown before a memorized token
// Pixels of one file, and of all of a request: what decoding may cost.
constexpr int64_t kMostPixels = int64_t{16} << 20, kMostPixelsTogether = int64_t{64} << 20;
constexpr std::string_view kBlank = "\xE2\x96\x81";  // how pieces show one

// "data:image/png;base64,AAAA" or "AAAA", as a client writes a file into JSON.  False where it is
// not base64.
bool DecodeBase64(std::string_view text, std::string* bytes) {
  const size_t comma = text.starts_with("data:") ? text.find(',') : std::string_view::npos;
  if (comma != std::string_view::npos) text.remove_prefix(comma + 1);
  while (text.ends_with('=')) text.remove_suffix(1);
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (text.empty() || text.size() % 4 == 1) return false;
  uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) return false;
    bits = (bits << 6) | static_cast<uint32_t>(digit);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    *bytes += static_cast<char>(static_cast<unsigned char>((bits >> held) & 0xFF));
  }
  return true;
}

bool IsImageFile(std::string_view bytes) {
  return bytes.starts_with("\x89PNG") || bytes.starts_with("\xFF\xD8\xFF");
}

std::string Note(const ResidualMemory& memory, const char* name) {
  const auto& notes = memory.description().notes;
  const auto found = notes.find(name);
  return found == notes.end() ? std::string() : found->second;
}

bool Exists(const std::string& path) {
  std::error_code ignored;
  return !path.empty() && std::filesystem::exists(path, ignored);
}

void Size(const ModelManifest& manifest, int64_t rows, Embedded* out) {
  out->rows = rows;
  out->keys.resize(static_cast<size_t>(rows * manifest.dim));
  out->logits.resize(static_cast<size_t>(rows * manifest.classes));
}

}  // namespace

Result<std::shared_ptr<const MemoryModel>> MemoryModel::Open(const MemorySource& source,
                                                             const ResidualMemory& memory) {
  const MemoryNotes& notes = memory.description().notes;
  std::string path = source.model.empty() ? RememberedModel(source.path, notes) : source.model;
  if (source.model.empty() && !Exists(path)) return std::shared_ptr<const MemoryModel>();
  if (source.model.empty()) RESMEM_RETURN_IF_ERROR(CheckBundledManifest(source.path, notes));
  RESMEM_ASSIGN_OR_RETURN(const ModelManifest manifest, ReadModelManifest(path));
  std::shared_ptr<MemoryModel> model(new MemoryModel);
  OnnxOptions options;
  options.threads = 1;  // several requests are answered at once
  if (manifest.takes_tokens()) {
    RESMEM_ASSIGN_OR_RETURN(
        TokenModel opened,
        TokenModel::Open(path, ParseTokenEngine(Note(memory, kEngineNote)), options));
    model->tokens_.emplace(std::move(opened));
    RESMEM_RETURN_IF_ERROR(model->OpenText(source, memory));
  } else {
    RESMEM_ASSIGN_OR_RETURN(OnnxModel opened, OnnxModel::Open(path, options));
    model->rows_.emplace(std::move(opened));
  }
  const MemoryDescription& description = memory.description();
  if (!model->Made(memory) || model->manifest().dim != description.dim ||
      model->manifest().classes != description.outputs) {
    return Status(ErrorCode::kMismatch, path + " is not the model that made the memory's keys");
  }
  return std::shared_ptr<const MemoryModel>(std::move(model));
}

Status MemoryModel::OpenText(const MemorySource& source, const ResidualMemory& memory) {
  if (source.tokenizer.empty()) return {};  // it is asked by arrays
  RESMEM_ASSIGN_OR_RETURN(Tokenizer tokenizer, Tokenizer::Open(source.tokenizer));
  RESMEM_RETURN_IF_ERROR(CheckTokenizer(source.tokenizer, tokenizer, memory));
  if (tokenizer.size() > manifest().classes) {
    return {ErrorCode::kMismatch, source.tokenizer + ": has " + std::to_string(tokenizer.size()) +
                                      " pieces, but the model knows " +
                                      std::to_string(manifest().classes)};
  }
  tokenizer_.emplace(std::move(tokenizer));
  if (source.text.empty() && !Exists(Note(memory, "tokens"))) return {};
  Result<MemorizedText> memorized = MemorizedText::Open(source.text, "--texts", memory);
  if (memorized.ok()) {
    memorized_.emplace(std::move(*memorized));
    return {};
  }
  if (!source.text.empty()) return memorized.status();
  // What the memory names has become another file: contexts are not shown.
  LogWarning("no_text",
             JsonText().Add("memory", source.name).Add("reason", memorized.status().message()));
  return {};
}

const ModelManifest& MemoryModel::manifest() const {
  return rows_ ? rows_->manifest() : tokens_->manifest();
}

bool MemoryModel::Made(const ResidualMemory& memory) const {
  const Fingerprint& mine = rows_ ? rows_->fingerprint() : tokens_->fingerprint();
  const Fingerprint& wanted = memory.description().fingerprint;
  return wanted.digest.empty() || mine.digest == wanted.digest;
}

Status MemoryModel::EmbedPixels(std::span<const uint8_t> pixels, int64_t rows,
                                Embedded* out) const {
  if (!rows_ || !manifest().takes_images()) {
    return {ErrorCode::kBadData, "this memory's model does not read images"};
  }
  Size(manifest(), rows, out);
  return rows_->Run(pixels, rows, out->keys, out->logits);
}

Status MemoryModel::EmbedFloats(MatrixView inputs, Embedded* out) const {
  if (!rows_) return {ErrorCode::kBadData, "this memory's model reads text; send \"text\""};
  Size(manifest(), inputs.rows, out);
  return rows_->RunFloats(inputs, out->keys, out->logits);
}

Status MemoryModel::EmbedImageFiles(std::span<const std::string> files, Embedded* out) const {
  const ModelManifest& read = manifest();
  if (!rows_ || !read.takes_images()) {
    return {ErrorCode::kBadData, "this memory's model does not read images"};
  }
  const ImageShape shape{read.height, read.width, read.channels};
  std::vector<uint8_t> pixels(files.size() * static_cast<size_t>(shape.bytes()));
  const int64_t most =
      std::min(kMostPixels, kMostPixelsTogether / std::max<int64_t>(1, std::ssize(files)));
  for (size_t i = 0; i < files.size(); ++i) {
    const std::string name = "image " + std::to_string(i);
    std::string decoded;
    const bool packed = !IsImageFile(files[i]) && DecodeBase64(files[i], &decoded);
    const std::string& bytes = packed ? decoded : files[i];
    RESMEM_RETURN_IF_ERROR(
        ReadImageBytes(name, std::as_bytes(std::span(bytes)), shape, read.resize,
                       std::max<int64_t>(most, shape.height * shape.width),
                       std::span(pixels).subspan(i * static_cast<size_t>(shape.bytes()),
                                                 static_cast<size_t>(shape.bytes()))));
  }
  return EmbedPixels(pixels, std::ssize(files), out);
}

Status MemoryModel::EmbedTexts(std::span<const std::string> texts, Embedded* out) const {
  if (!tokenizer_) {
    return {ErrorCode::kUnsupported,
            "this memory has no model and tokenizer here to read text (--models, --tokenizers); "
            "send \"keys\" and \"logits\""};
  }
  const auto context = static_cast<size_t>(manifest().context);
  std::vector<std::vector<int32_t>> ids(texts.size());
  std::vector<TokenInput> windows;
  for (size_t i = 0; i < texts.size(); ++i) {
    RESMEM_RETURN_IF_ERROR(tokenizer_->EncodeFromBeginning(texts[i], &ids[i]));
    if (ids[i].empty()) {
      return {ErrorCode::kBadData, "text " + std::to_string(i) + " holds no token"};
    }
    windows.push_back({std::span(ids[i]).last(std::min(ids[i].size(), context)), 1});
  }
  Size(manifest(), std::ssize(texts), out);
  return tokens_->Run(windows, out->keys, out->logits);
}

Status MemoryModel::EmbedTokens(std::span<const int32_t> ids, int64_t wanted, Embedded* out) const {
  Size(manifest(), wanted, out);
  const TokenInput window{ids.last(std::min(ids.size(), static_cast<size_t>(manifest().context))),
                          wanted};
  return tokens_->Run(std::span(&window, 1), out->keys, out->logits);
}

std::string MemoryModel::TokenText(int64_t id) const {
  if (!tokenizer_ || id < 0) return {};
  if (id >= tokenizer_->size()) return "#" + std::to_string(id);
  std::string text(tokenizer_->piece(static_cast<int32_t>(id)));
  for (size_t at = text.find(kBlank); at != std::string::npos; at = text.find(kBlank, at)) {
    text.replace(at, kBlank.size(), " ");
  }
  return text;
}

std::optional<int32_t> MemoryModel::FindToken(std::string_view text) const {
  for (int32_t id = 0; tokenizer_ && id < tokenizer_->size(); ++id) {
    if (tokenizer_->piece(id) == text || TokenText(id) == text) return id;
  }
  return std::nullopt;
}

std::string MemoryModel::ContextOf(uint64_t id, int32_t label) const {
  if (!memorized_) return {};
  const Result<MemorizedText::Place> place =
      memorized_->Find(*tokenizer_, id, label, kContextTokens);
  if (!place.ok()) return {};
  if (place->context.empty()) return place->title;
  return "… " + place->context + (place->title.empty() ? "" : " (" + place->title + ")");
}

}  // namespace resmem::serve
