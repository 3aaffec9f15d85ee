#include <algorithm>
#include <vector>

#include "format/container_writer.h"
#include "resmem/lm/token_set.h"
#include "support/file_system.h"
#include "support/guard.h"
#include "support/output_lock.h"
#include "text/token_set_file.h"

namespace resmem {
namespace {

constexpr size_t kSpoolBytes = size_t{1} << 20;
constexpr char kSpoolSuffix[] = ".ids.tmp";

}  // namespace

// A container's sizes stand before its content, and the tokens are counted only when all are
// there: the ids wait in a file of their own.
struct TokenSetWriter::State {
  State(FileSystem& files_in, std::string path_in)
      : files(files_in), path(std::move(path_in)), spool_path(path + kSpoolSuffix) {}
  ~State() {
    if (spool == nullptr) return;
    // Best effort, and before it is closed: then another writer may have it.
    (void)files.Remove(spool_path).ok();
  }

  Status Flush() {
    RESMEM_RETURN_IF_ERROR(spool->Write(spooled, pending));
    spooled += static_cast<int64_t>(pending.size());
    pending.clear();
    return {};
  }
  template <typename T>
  void Append(int32_t id) {
    const T narrow = static_cast<T>(id);
    const auto bytes = std::as_bytes(std::span(&narrow, 1));
    pending.insert(pending.end(), bytes.begin(), bytes.end());
  }
  Status CopyIds(ContainerWriter* writer) {
    RESMEM_ASSIGN_OR_RETURN(const MappedFile ids, files.Map(spool_path));
    ids.ReadAhead();
    for (size_t begin = 0; begin < ids.bytes().size(); begin += kSpoolBytes) {
      const size_t size = std::min(kSpoolBytes, ids.bytes().size() - begin);
      RESMEM_RETURN_IF_ERROR(writer->Append(kIds, ids.bytes().subspan(begin, size)));
      ids.Drop(begin, size);
    }
    return {};
  }

  FileSystem& files;
  std::string path, spool_path;
  std::unique_ptr<FileLock> lock;  // so that no other writer has the same two files
  int64_t vocabulary_size = 0;
  int32_t end_id = 0;
  std::unique_ptr<WritableFile> spool;
  int64_t spooled = 0;  // bytes
  std::vector<std::byte> pending;
  int64_t tokens = 0;
  std::vector<uint64_t> ends, title_offsets = {0};
  std::string titles;
};

TokenSetWriter::TokenSetWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
TokenSetWriter::TokenSetWriter(TokenSetWriter&&) noexcept = default;
TokenSetWriter& TokenSetWriter::operator=(TokenSetWriter&&) noexcept = default;
TokenSetWriter::~TokenSetWriter() = default;

Result<TokenSetWriter> TokenSetWriter::Create(const std::string& path, int64_t vocabulary_size,
                                              int32_t end_id) try {
  RESMEM_RETURN_IF_ERROR(CheckVocabulary(vocabulary_size, end_id));
  if (IsDeviceOrPipe(path)) {
    return Status(ErrorCode::kInvalidArgument,
                  Text(path, ": a device or pipe cannot hold a token set; name a file"));
  }
  auto state = std::make_unique<State>(FileSystem::Posix(), FollowLinks(path));
  state->vocabulary_size = vocabulary_size;
  state->end_id = end_id;
  RESMEM_ASSIGN_OR_RETURN(state->lock, LockOutput(state->files, state->path, "writing it"));
  RESMEM_ASSIGN_OR_RETURN(state->spool, state->files.Create(state->spool_path, state->path));
  return TokenSetWriter(std::move(state));
} catch (...) {
  return CaughtException(Text("write ", path));
}

Status TokenSetWriter::Add(std::span<const int32_t> ids, std::string_view title) try {
  State& state = *state_;
  if (ids.empty()) {
    return {ErrorCode::kInvalidArgument, Text("document ", documents(), " has no tokens")};
  }
  for (const int32_t id : ids) {
    if (id >= 0 && id < state.vocabulary_size) continue;
    return {ErrorCode::kInvalidArgument, Text("document ", documents(), " holds the token ", id,
                                              ", but the vocabulary has ", state.vocabulary_size)};
  }
  const auto append = [&](int32_t id) {
    HasNarrowIds(state.vocabulary_size) ? state.Append<uint16_t>(id) : state.Append<uint32_t>(id);
  };
  for (const int32_t id : ids) {
    append(id);
    if (state.pending.size() >= kSpoolBytes) RESMEM_RETURN_IF_ERROR(state.Flush());
  }
  append(state.end_id);
  state.tokens += static_cast<int64_t>(ids.size()) + 1;
  state.ends.push_back(static_cast<uint64_t>(state.tokens));
  state.titles += title;
  state.title_offsets.push_back(state.titles.size());
  return {};
} catch (...) {
  return CaughtException("add a document");
}

int64_t TokenSetWriter::documents() const {
  return static_cast<int64_t>(state_->ends.size());
}

int64_t TokenSetWriter::tokens() const {
  return state_->tokens;
}

Status TokenSetWriter::Finish(const std::string& tokenizer, const TextCounts& text) try {
  State& state = *state_;
  if (documents() == 0) {
    return {ErrorCode::kBadData, Text(state.path, ": there is no document to write")};
  }
  RESMEM_RETURN_IF_ERROR(state.Flush());
  const std::string json = DescriptionText({state.vocabulary_size, state.end_id, tokenizer, text});
  RESMEM_ASSIGN_OR_RETURN(
      ContainerWriter writer,
      ContainerWriter::Create(state.files, state.path, FileKind::kTokenSet,
                              TokenSetSections({state.vocabulary_size, state.tokens, documents(),
                                                static_cast<int64_t>(state.titles.size()),
                                                static_cast<int64_t>(json.size())})));
  RESMEM_RETURN_IF_ERROR(state.CopyIds(&writer));
  RESMEM_RETURN_IF_ERROR(writer.AppendValues<uint64_t>(kDocumentEnds, state.ends));
  RESMEM_RETURN_IF_ERROR(writer.AppendValues<uint64_t>(kTitleOffsets, state.title_offsets));
  RESMEM_RETURN_IF_ERROR(writer.AppendValues<char>(kTitleBytes, state.titles));
  RESMEM_RETURN_IF_ERROR(writer.AppendValues<char>(kDescription, json));
  return writer.Finish().status();
} catch (...) {
  return CaughtException("write the token set");
}

}  // namespace resmem
