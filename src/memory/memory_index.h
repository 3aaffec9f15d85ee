// The inverted files of a memory: opening those that the manifest names, and building new ones.
#ifndef RESMEM_MEMORY_MEMORY_INDEX_H_
#define RESMEM_MEMORY_MEMORY_INDEX_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "ivf/ivf_index.h"
#include "memory/folder_change.h"
#include "memory/manifest.h"
#include "memory/query_file.h"
#include "memory/stored_rows.h"
#include "resmem/residual_memory.h"

namespace resmem {

// Open inverted files.  What they search are the rows, which must outlive them, and so must
// `exact`, an index of all rows.
class MemoryIndex {
 public:
  // Requires parts in the manifest.  A file that is gone is kNotFound.
  static Result<MemoryIndex> Open(FileSystem& files, const std::string& folder,
                                  const StoredRows& rows, const KnnIndex& exact);

  const KnnIndex& index() const { return *index_; }
  const IndexInfo& info() const { return info_; }
  Status Verify(Progress* progress) const;

 private:
  std::unique_ptr<KnnIndex> index_;
  std::vector<const InvertedFile*> files_;  // of the index
  std::optional<QueryFile> queries_;
  IndexInfo info_;
};

// Segments [first_segment, end) of `rows` into a new part of the index in `manifest`, whose parts
// end there; nothing where all these rows are deleted.  At most one part a change.
Status AddIndexPart(FolderChange* change, const StoredRows& rows, size_t first_segment, int threads,
                    Progress* progress, Manifest* manifest);

// Where `manifest`, not yet published, has an index and many rows after it: a new part of these,
// and of the small parts before.
Status ExtendIndex(FolderChange* change, Manifest* manifest);

}  // namespace resmem

#endif  // RESMEM_MEMORY_MEMORY_INDEX_H_
