// MemoryWriter over any file system: new rows of a new or an existing memory.
#ifndef RESMEM_MEMORY_ROWS_ROW_WRITER_H_
#define RESMEM_MEMORY_ROWS_ROW_WRITER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "memory/manifest/folder_change.h"
#include "memory/rows/id_index.h"
#include "memory/rows/segment_writer.h"
#include "resmem/residual_memory.h"

namespace resmem {

// Whether the memory of this manifest knows the token; kMismatch where it was given for another
// number of rows.
Result<bool> KnowsToken(const std::string& path, const Manifest& manifest, const std::string& token,
                        int64_t rows);

class RowWriter {
 public:
  static Result<std::unique_ptr<RowWriter>> Create(FileSystem& files, const std::string& path,
                                                   const MemoryDescription& description,
                                                   int64_t rows,
                                                   const MemoryWriter::Options& options);
  static Result<std::unique_ptr<RowWriter>> Append(FileSystem& files, const std::string& path,
                                                   int64_t rows, const AppendOptions& options = {});

  // Rows that follow a stream of edits: as Append(), and `edits.forget` are deleted by the same
  // Finish(), which writes `edits.position`, too.
  static Result<std::unique_ptr<RowWriter>> Follow(FileSystem& files, const std::string& path,
                                                   int64_t from, const StreamedEdits& edits,
                                                   const ChangeOptions& options);

  // Before the first Add() of a memory that replaces one: it keeps that one's tokens, and `token`
  // for the last `rows` of its rows, which messages count from 0.
  void Continue(const std::string& token, int64_t rows);

  const MemoryDescription& description() const { return manifest_.description; }
  bool repeated() const { return repeated_; }
  Status Add(const Rows& rows);
  Status Finish(Progress* progress = nullptr);
  Segment::Mass mass() const { return mass_; }  // of the rows so far

 private:
  RowWriter(std::unique_ptr<FolderChange> change, Manifest manifest, int64_t rows, bool tags)
      : change_(std::move(change)), manifest_(std::move(manifest)), rows_(rows), tags_(tags) {}
  static Result<std::unique_ptr<RowWriter>> Extend(std::unique_ptr<FolderChange> change,
                                                   int64_t rows, bool tags);
  Status Begin();
  Status Forget(std::span<const uint64_t> ids);
  Status LoadOldIds();
  // What Add() writes: of the description, but for keys that are whitened later.
  MemoryDescription WrittenAs() const;
  // Sets new_ids_ to the ids of these rows, the user's or the next ones.
  Status TakeIds(const Rows& rows);
  Status CheckNotLiving(std::span<const uint64_t> ids);
  Status CheckNotRepeated() const;
  // `rows` with their keys as they are stored; sets norms_.
  Result<Rows> TransformKeys(const Rows& rows);
  Status Publish(Progress* progress);

  std::unique_ptr<FolderChange> change_;
  Manifest manifest_;                    // as it will be
  int64_t rows_;                         // promised
  bool tags_;                            // rows may have some
  std::optional<IndexOptions> index_{};  // of a new memory
  bool repeated_ = false;                // by the token: nothing is to be done
  int64_t added_ = 0;
  int64_t counted_from_ = 0;  // the row that is row 0 of messages
  KeyTransformer transformer_;
  // Keys of a new memory that will be whitened: they are written as given, and again by Publish().
  bool to_be_whitened_ = false;
  std::vector<float> transformed_, norms_;  // of one Add()
  Segment::Mass mass_;
  std::unique_ptr<SegmentWriter> segment_;  // none without rows
  std::vector<uint64_t> new_ids_;           // of one Add()
  std::vector<uint64_t> user_ids_;          // of all rows, where the user gives them
  // The memory before this change; loaded when an id might live in it.
  std::optional<StoredRows> old_rows_;
  std::optional<IdIndex> old_ids_;
  std::unordered_set<uint64_t> forgotten_;  // by this change
  Status broken_;                           // the error after which nothing more can be added
};

}  // namespace resmem

#endif  // RESMEM_MEMORY_ROWS_ROW_WRITER_H_
