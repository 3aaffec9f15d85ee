#include "memory/rows/row_writer.h"

#include <algorithm>
#include <numeric>

#include "memory/index/memory_index.h"
#include "memory/keys/rewrite_keys.h"
#include "memory/keys/transform_file.h"
#include "memory/manifest/description.h"
#include "memory/manifest/file_names.h"
#include "memory/rows/check_rows.h"
#include "memory/rows/deletions.h"
#include "support/text.h"

namespace resmem {
namespace {

Status BadRow(const std::string& message) {
  return {ErrorCode::kBadData, message};
}

Status CheckRowCount(int64_t rows) {
  if (rows >= 0) return {};
  return {ErrorCode::kInvalidArgument, Text(rows, " rows were announced, at least 0 must be")};
}

void AddToken(const std::string& token, int64_t rows, Manifest* manifest) {
  std::vector<AppendToken>& known = manifest->append_tokens;
  if (known.size() >= kMostTokens) known.erase(known.begin());
  known.push_back({token, rows});
}

}  // namespace

Result<bool> KnowsToken(const std::string& path, const Manifest& manifest, const std::string& token,
                        int64_t rows) {
  const auto found = std::ranges::find(
      manifest.append_tokens, token,
      [](const AppendToken& append) -> const std::string& { return append.token; });
  if (found == manifest.append_tokens.end()) return false;
  if (found->rows == rows) return true;
  return Status(ErrorCode::kMismatch,
                Text(path, ": the token \"", token, "\" was given for ", found->rows,
                     " rows before, now for ", rows, "; give every append a token of its own"));
}

Result<std::unique_ptr<RowWriter>> RowWriter::Create(FileSystem& files, const std::string& path,
                                                     const MemoryDescription& description,
                                                     int64_t rows,
                                                     const MemoryWriter::Options& options) {
  RESMEM_RETURN_IF_ERROR(CheckRowCount(rows));
  if (options.index) RESMEM_RETURN_IF_ERROR(CheckIndexOptions(*options.index));
  Manifest manifest;
  RESMEM_ASSIGN_OR_RETURN(manifest.description, NormalizeDescription(description));
  manifest.description.created.clear();
  using Start = FolderChange::Start;
  RESMEM_ASSIGN_OR_RETURN(
      std::unique_ptr<FolderChange> change,
      FolderChange::Begin(files, path, options.overwrite ? Start::kNewOrReplace : Start::kNew,
                          options.change));
  std::unique_ptr<RowWriter> writer(
      new RowWriter(std::move(change), std::move(manifest), rows, options.tags));
  writer->index_ = options.index;
  const MemoryDescription& made = writer->description();
  if (made.key_transform == KeyTransform::kWhiten && rows == 0) {
    return Status(
        ErrorCode::kInvalidArgument,
        "keys are whitened by the rows that a memory is made of, and none were announced; "
        "use the transform unit or none");
  }
  writer->to_be_whitened_ = made.key_transform == KeyTransform::kWhiten;
  if (made.key_transform == KeyTransform::kUnit) {
    writer->transformer_ = KeyTransformer::Unit(made.dim);
  }
  RESMEM_RETURN_IF_ERROR(writer->Begin());
  return writer;
}

Result<std::unique_ptr<RowWriter>> RowWriter::Append(FileSystem& files, const std::string& path,
                                                     int64_t rows, const AppendOptions& options) {
  RESMEM_RETURN_IF_ERROR(CheckRowCount(rows));
  if (!options.token.empty()) RESMEM_RETURN_IF_ERROR(CheckToken(options.token));
  RESMEM_ASSIGN_OR_RETURN(
      std::unique_ptr<FolderChange> change,
      FolderChange::Begin(files, path, FolderChange::Start::kExisting, options.change));
  RESMEM_RETURN_IF_ERROR(CheckOwnRows(path, change->current()));
  RESMEM_ASSIGN_OR_RETURN(std::unique_ptr<RowWriter> writer,
                          Extend(std::move(change), rows, options.tags));
  if (!options.token.empty()) {
    RESMEM_ASSIGN_OR_RETURN(writer->repeated_,
                            KnowsToken(path, writer->manifest_, options.token, rows));
    if (writer->repeated_) {
      writer->change_.reset();  // others may write
      return writer;
    }
    AddToken(options.token, rows, &writer->manifest_);
  }
  RESMEM_RETURN_IF_ERROR(writer->Begin());
  return writer;
}

Result<std::unique_ptr<RowWriter>> RowWriter::Extend(std::unique_ptr<FolderChange> change,
                                                     int64_t rows, bool tags) {
  Manifest manifest = change->current();
  if (rows > 0) manifest.former.reset();  // they would lack the new rows
  RESMEM_ASSIGN_OR_RETURN(KeyTransformer transformer,
                          LoadTransformer(change->files(), change->folder(), manifest));
  std::unique_ptr<RowWriter> writer(
      new RowWriter(std::move(change), std::move(manifest), rows, tags));
  writer->transformer_ = std::move(transformer);
  return writer;
}

Result<std::unique_ptr<RowWriter>> RowWriter::Follow(FileSystem& files, const std::string& path,
                                                     int64_t from, const StreamedEdits& edits,
                                                     const ChangeOptions& options) {
  RESMEM_ASSIGN_OR_RETURN(
      std::unique_ptr<FolderChange> change,
      FolderChange::Begin(files, path, FolderChange::Start::kExisting, options));
  const std::optional<StreamPosition>& now = change->current().stream;
  const int64_t sequence = now ? now->sequence : from;
  if (sequence != from ||
      (now && (now->stream != edits.position.stream || now->created != edits.position.created))) {
    return Status(ErrorCode::kMismatch,
                  Text(path, ": has the edits up to ", sequence, " of its stream, not up to ", from,
                       " of ", edits.position.stream, "; does another program follow it here?"));
  }
  RESMEM_ASSIGN_OR_RETURN(
      std::unique_ptr<RowWriter> writer,
      Extend(std::move(change), edits.learn.count(), !edits.learn.tags.empty()));
  writer->manifest_.stream = edits.position;
  RESMEM_RETURN_IF_ERROR(writer->change_->Try([&] { return writer->Forget(edits.forget); }));
  RESMEM_RETURN_IF_ERROR(writer->Begin());
  return writer;
}

Status RowWriter::Forget(std::span<const uint64_t> ids) {
  if (ids.empty()) return {};
  RESMEM_RETURN_IF_ERROR(LoadOldIds());
  std::vector<int64_t> deleted = old_rows_->deleted();
  for (const uint64_t id : ids) {
    const std::optional<int64_t> row = old_ids_->Find(id);
    if (!row) return {ErrorCode::kNotFound, Text("no living row has the id ", id)};
    deleted.push_back(*row);
    forgotten_.insert(id);
  }
  std::sort(deleted.begin(), deleted.end());
  manifest_.former.reset();
  RESMEM_ASSIGN_OR_RETURN(manifest_.deletions,
                          WriteDeletions(change_->files(), change_->folder(),
                                         change_->NewName(kDeletionsPrefix), deleted));
  return {};
}

Status RowWriter::LoadOldIds() {
  if (old_ids_) return {};
  RESMEM_ASSIGN_OR_RETURN(old_rows_, StoredRows::Load(change_->files(), change_->folder()));
  RESMEM_RETURN_IF_ERROR(old_rows_->VerifyIds());
  old_ids_.emplace(*old_rows_);
  return {};
}

void RowWriter::Continue(const std::string& token, int64_t rows) {
  const Manifest& replaced = change_->current();
  manifest_.append_tokens = replaced.append_tokens;
  manifest_.next_id = std::max(manifest_.next_id, replaced.next_id);
  counted_from_ = rows_ - rows;
  if (!token.empty()) AddToken(token, rows, &manifest_);
}

Status RowWriter::Begin() {
  if (rows_ == 0) return {};
  std::vector<float> center;
  if (!manifest_.segments.empty() && description().key_type == KeyType::kInt4) {
    RESMEM_ASSIGN_OR_RETURN(const Segment first,
                            Segment::Open(change_->files(), change_->folder(), description(),
                                          manifest_.segments.front()));
    RESMEM_RETURN_IF_ERROR(first.file().VerifySection(first.layout().key_center));
    center.assign(first.key_center().begin(), first.key_center().end());
  }
  RESMEM_ASSIGN_OR_RETURN(
      segment_,
      SegmentWriter::Create(change_->files(), change_->folder(), change_->NewName(kSegmentPrefix),
                            WrittenAs(), rows_, tags_, std::move(center)));
  return {};
}

MemoryDescription RowWriter::WrittenAs() const {
  MemoryDescription written = description();
  if (to_be_whitened_) {
    written.key_transform = KeyTransform::kNone;
    written.key_type = KeyType::kFloat32;  // rounded once, when they are whitened
  }
  return written;
}

Status RowWriter::Add(const Rows& rows) {
  if (repeated_) return {};
  RESMEM_RETURN_IF_ERROR(broken_);
  RESMEM_RETURN_IF_ERROR(CheckRows(rows, description(), added_ - counted_from_));
  RESMEM_RETURN_IF_ERROR(CheckRowTags(rows, tags_, added_ - counted_from_));
  if (rows.count() > rows_ - added_) {
    return BadRow(Text("row ", rows_, " was added where ", rows_, " rows were announced"));
  }
  if (rows.count() == 0) return {};
  RESMEM_ASSIGN_OR_RETURN(const Rows stored, TransformKeys(rows));
  RESMEM_RETURN_IF_ERROR(TakeIds(rows));
  broken_ = change_->Try([&] { return segment_->Add(stored, new_ids_, norms_); });
  if (!broken_.ok()) return broken_;
  if (!rows.ids.empty()) user_ids_.insert(user_ids_.end(), new_ids_.begin(), new_ids_.end());
  for (const uint64_t id : new_ids_) manifest_.next_id = std::max(manifest_.next_id, id + 1);
  added_ += rows.count();
  mass_ = segment_->mass();
  return {};
}

Result<Rows> RowWriter::TransformKeys(const Rows& rows) {
  Rows stored = rows;
  if (transformer_.kind() != KeyTransform::kNone) {
    transformed_.resize(static_cast<size_t>(rows.count() * rows.keys.columns));
    norms_.resize(static_cast<size_t>(rows.count()));
    transformer_.Apply(rows.keys, /*threads=*/0, transformed_.data(), norms_.data());
    stored.keys = MatrixView(transformed_.data(), rows.count(), rows.keys.columns);
  }
  RESMEM_RETURN_IF_ERROR(CheckStoredKeys(stored.keys, WrittenAs(), added_ - counted_from_));
  return stored;
}

Status RowWriter::TakeIds(const Rows& rows) {
  const bool given = !rows.ids.empty();
  if (added_ > 0 && given == user_ids_.empty()) {
    return BadRow(Text("row ", added_, given ? " comes with an id" : " comes without an id",
                       ", unlike the rows before; give ids for all rows, or for none"));
  }
  const auto count = static_cast<uint64_t>(rows.count());
  if (given) {
    new_ids_.assign(rows.ids.begin(), rows.ids.end());
    return CheckNotLiving(new_ids_);
  }
  if (manifest_.next_id > kLargestId || count - 1 > kLargestId - manifest_.next_id) {
    return BadRow(Text("the ids after ", manifest_.next_id, " do not suffice for ", count,
                       " rows; give ids of your own"));
  }
  new_ids_.resize(static_cast<size_t>(count));
  std::iota(new_ids_.begin(), new_ids_.end(), manifest_.next_id);
  return {};
}

Status RowWriter::CheckNotLiving(std::span<const uint64_t> ids) {
  // Nothing can live at or above the next id, so appending fresh ids reads no old row.
  const Manifest& old = change_->current();
  if (manifest_.segments.empty()) return {};
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] >= old.next_id) continue;
    RESMEM_RETURN_IF_ERROR(LoadOldIds());
    if (!old_ids_->Find(ids[i]) || forgotten_.contains(ids[i])) continue;
    return BadRow(Text("ids, row ", added_ + static_cast<int64_t>(i), ": the id ", ids[i],
                       " is already in the memory; delete it first, or give another"));
  }
  return {};
}

Status RowWriter::CheckNotRepeated() const {
  const bool ascending = std::adjacent_find(user_ids_.begin(), user_ids_.end(),
                                            std::greater_equal<>()) == user_ids_.end();
  if (ascending) return {};
  std::vector<uint64_t> sorted = user_ids_;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice == sorted.end()) return {};
  const auto first = std::find(user_ids_.begin(), user_ids_.end(), *twice);
  const auto second = std::find(first + 1, user_ids_.end(), *twice);
  return BadRow(Text("ids, rows ", first - user_ids_.begin() - counted_from_, " and ",
                     second - user_ids_.begin() - counted_from_, ": both are ", *twice,
                     ", but an id must be given once"));
}

Status RowWriter::Finish(Progress* progress) {
  if (repeated_) return {};
  RESMEM_RETURN_IF_ERROR(broken_);
  if (added_ != rows_) {
    return BadRow(Text(rows_, " rows were announced, but ", added_, " were added"));
  }
  RESMEM_RETURN_IF_ERROR(CheckNotRepeated());
  const Status status = change_->Try([&] { return Publish(progress); });
  // Others may write now, even if this object lives on.
  segment_.reset();
  change_.reset();
  broken_ =
      status.ok() ? Status(ErrorCode::kInvalidArgument, "the memory was finished already") : status;
  return status;
}

Status RowWriter::Publish(Progress* progress) {
  if (segment_ != nullptr) {
    RESMEM_ASSIGN_OR_RETURN(FileRecord record, segment_->Finish());
    manifest_.segments.push_back(std::move(record));
  }
  if (to_be_whitened_) {
    Manifest written = manifest_;
    written.description = WrittenAs();
    RESMEM_ASSIGN_OR_RETURN(
        const StoredRows given,
        StoredRows::Load(change_->files(), change_->folder(), std::move(written)));
    RESMEM_RETURN_IF_ERROR(change_->NextGeneration());
    RESMEM_RETURN_IF_ERROR(RewriteKeys(change_.get(), given, progress, &manifest_));
  }
  if (index_) {
    RESMEM_ASSIGN_OR_RETURN(const StoredRows rows,
                            StoredRows::Load(change_->files(), change_->folder(), manifest_));
    RESMEM_RETURN_IF_ERROR(
        MakeIndex(change_.get(), rows, *index_, /*is_new=*/true, progress, &manifest_));
  } else {
    RESMEM_RETURN_IF_ERROR(ExtendIndex(change_.get(), progress, &manifest_));
  }
  return change_->Publish(manifest_);
}

}  // namespace resmem
