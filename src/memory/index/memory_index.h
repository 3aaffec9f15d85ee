// The inverted files of a memory: opening those that the manifest names, and building new ones.
#ifndef RESMEM_MEMORY_INDEX_MEMORY_INDEX_H_
#define RESMEM_MEMORY_INDEX_MEMORY_INDEX_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "memory/index/query_file.h"
#include "memory/manifest/folder_change.h"
#include "memory/manifest/manifest.h"
#include "memory/rows/stored_rows.h"
#include "resmem/residual_memory.h"
#include "search/approximate/ivf_index.h"

namespace resmem {

// Open inverted files.  What they search are the rows, which must outlive them, and so must
// `exact`, an index of all rows.
class MemoryIndex {
 public:
  // Requires parts in the manifest.  A file that is gone is kNotFound.  Files that `former` has,
  // too, are shared with it.
  static Result<MemoryIndex> Open(FileSystem& files, const std::string& folder,
                                  const StoredRows& rows, const KnnIndex& exact,
                                  const MemoryIndex* former = nullptr);

  const KnnIndex& index() const { return *index_; }
  const IndexInfo& info() const { return info_; }
  Status Verify(Progress* progress) const;
  // Of the queries that are kept: no search needs them.
  Status VerifyQueries() const;

 private:
  std::unique_ptr<KnnIndex> index_;
  std::vector<const InvertedFile*> files_;  // of the index
  std::vector<FileRecord> records_;         // of these
  std::optional<QueryFile> queries_;
  Status queries_status_;
  std::string advice_;  // for whoever finds a file broken
  IndexInfo info_;
};

// Makes the index that is asked for, of all `rows`, and its record in `manifest`.  kUnsupported
// where rows cannot be in one; `is_new`: the memory is being made, too.
Status MakeIndex(FolderChange* change, const StoredRows& rows, const IndexOptions& options,
                 bool is_new, Progress* progress, Manifest* manifest);

// Rebuilds the index over all `rows` and records it in the unpublished `manifest`; where rows
// cannot be in it, they are in none, and `manifest` tells why.
Status RemakeIndex(FolderChange* change, const StoredRows& rows, Progress* progress,
                   Manifest* manifest);

// Where `manifest`, not yet published, has an index and many rows after it: a new part of these,
// and of the small parts before.  Where rows cannot be in it, they stay after it.
Status ExtendIndex(FolderChange* change, Progress* progress, Manifest* manifest);

}  // namespace resmem

#endif  // RESMEM_MEMORY_INDEX_MEMORY_INDEX_H_
