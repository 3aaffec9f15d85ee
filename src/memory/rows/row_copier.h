// Rows of segments into one new segment, byte for byte as if they had been written at once; with
// other keys or residuals where the new description asks for them.
#ifndef RESMEM_MEMORY_ROWS_ROW_COPIER_H_
#define RESMEM_MEMORY_ROWS_ROW_COPIER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "memory/manifest/folder_change.h"
#include "memory/residuals/residual_encoder.h"
#include "memory/rows/key_encoder.h"
#include "memory/rows/segment_writer.h"
#include "memory/rows/stored_rows.h"

namespace resmem {

// Consecutive rows of the memory, all in one segment.
struct Run {
  const Segment* segment;
  int64_t begin, rows;  // in the segment
  int64_t first;        // row of the memory
};

// Long runs are cut, so that the caller hears from us and may cancel.
std::vector<Run> LivingRuns(const StoredRows& rows);
// Of segments [first, end), deleted rows too.
std::vector<Run> AllRuns(const StoredRows& rows, size_t first, size_t end);

class RowCopier {
 public:
  // `description`: of the new segment.  `transformer`: of its keys, where they are not those of
  // `rows` as stored; else null.  Both live as long as this.
  RowCopier(const StoredRows& rows, std::vector<Run> runs, MemoryDescription description,
            const KeyTransformer* transformer, Progress* progress);

  // What was read stays in the page cache: for a memory that is being searched.
  void KeepPages() { drops_ = false; }

  // `stage`: what the progress is called.
  Result<FileRecord> Write(FolderChange* change, const char* stage);

 private:
  // Every section that old and new have in common, the sources and the tags.
  Status CopyRun(const Run& run, ContainerWriter* writer);
  Status TransformRun(const Run& run, ContainerWriter* writer);
  // Keys of another type.
  Status EncodeRun(const Run& run, ContainerWriter* writer);
  Status FreezeRun(const Run& run, ContainerWriter* writer);
  // What a packed segment stores in a way of its own: labels, ids, entries.
  Status PackRun(const Run& run, ContainerWriter* writer);
  Status WriteIdRuns(ContainerWriter* writer);
  // Sets the center of int4 keys, where they are not copied as they are.
  void ChooseCenter();
  bool IsOfKeys(size_t section) const;
  bool KeysAreCopied() const;
  bool IsPacked(size_t section) const;

  const StoredRows& rows_;
  std::vector<Run> runs_;
  int64_t count_;
  MemoryDescription description_;
  std::vector<uint64_t> id_runs_;  // of a packed segment, if shorter than its ids: row and id
  const KeyTransformer* transformer_;
  SegmentLayout layout_;
  KeyEncoder keys_;
  ResidualEncoder residuals_;
  Progress* progress_;
  bool drops_ = true;
  TextAppender sources_, tags_;
};

}  // namespace resmem

#endif  // RESMEM_MEMORY_ROWS_ROW_COPIER_H_
