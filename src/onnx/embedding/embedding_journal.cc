#include "onnx/embedding/embedding_journal.h"

#include "format/json_fields.h"

namespace resmem {
namespace {

constexpr int64_t kJournalVersion = 1;
constexpr size_t kMaxJournalBytes = size_t{64} << 20;

}  // namespace

bool EmbeddingJournal::SameWork(const EmbeddingJournal& other) const {
  return rows == other.rows && dim == other.dim && outputs == other.outputs &&
         block == other.block && made_from == other.made_from;
}

Status WriteJournal(FileSystem& files, const std::string& folder, const EmbeddingJournal& journal) {
  const Json json = {
      {"resmem_embedding", kJournalVersion}, {"rows", journal.rows},   {"dim", journal.dim},
      {"outputs", journal.outputs},          {"block", journal.block}, {"done", journal.done},
      {"made_from", journal.made_from}};
  const std::string text = json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  return WriteFileAtomically(files, folder + "/" + kJournalName, std::as_bytes(std::span(text)));
}

std::optional<EmbeddingJournal> ReadJournal(FileSystem& files, const std::string& folder) {
  const auto file = files.Map(folder + "/" + kJournalName);
  if (!file.ok() || file->bytes().size() > kMaxJournalBytes) return std::nullopt;
  const std::string_view text(reinterpret_cast<const char*>(file->bytes().data()),
                              file->bytes().size());
  const auto json = ParseShallowJson(text, 3);
  if (!json.ok()) return std::nullopt;
  Fields fields(*json, "the journal");
  EmbeddingJournal journal;
  int64_t version = 0;
  fields.Get("resmem_embedding", &version);
  fields.Get("rows", &journal.rows);
  fields.Get("dim", &journal.dim);
  fields.Get("outputs", &journal.outputs);
  fields.Get("block", &journal.block);
  fields.Get("done", &journal.done);
  fields.Get("made_from", &journal.made_from);
  if (!fields.status().ok() || version != kJournalVersion || journal.done > journal.rows) {
    return std::nullopt;
  }
  return journal;
}

}  // namespace resmem
