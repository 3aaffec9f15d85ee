#include "memory/keys/rewrite_keys.h"

#include <utility>

#include "memory/index/memory_index.h"
#include "memory/keys/transform_file.h"
#include "memory/keys/whitening.h"
#include "memory/manifest/file_names.h"
#include "memory/rows/row_copier.h"

namespace resmem {
namespace {

// Whether the index was asked for in the same way.
bool SameRequest(const std::optional<IndexRecord>& a, const std::optional<IndexRecord>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  const auto queries = [](const IndexRecord& index) {
    return index.queries ? index.queries->file : "";
  };
  return a->recall == b->recall && a->seed == b->seed && a->code_bits == b->code_bits &&
         queries(*a) == queries(*b);
}

}  // namespace

Status RewriteKeys(FolderChange* change, const StoredRows& rows, Progress* progress,
                   Manifest* manifest) {
  const MemoryDescription& description = manifest->description;
  RESMEM_ASSIGN_OR_RETURN(
      const KeyTransformer transformer,
      MakeTransformer(rows, description.key_transform, /*threads=*/0, progress));
  manifest->transform.reset();
  if (transformer.kind() == KeyTransform::kWhiten) {
    RESMEM_ASSIGN_OR_RETURN(
        manifest->transform,
        WriteTransform(change->files(), change->folder(), change->NewName(kTransformPrefix),
                       transformer.matrix(), description.dim));
  }
  manifest->segments.clear();
  if (rows.capacity() == 0) return {};
  RowCopier copier(rows, AllRuns(rows, 0, rows.segments().size()), description, &transformer,
                   progress);
  RESMEM_ASSIGN_OR_RETURN(FileRecord record, copier.Write(change, "transform keys"));
  manifest->segments.push_back(std::move(record));
  return {};
}

Status ChangeKeys(FolderChange* change, KeyTransform to, Progress* progress, Manifest* manifest) {
  FormerKeys replaced{manifest->description.key_transform, manifest->segments, manifest->transform,
                      manifest->index};
  const bool kept = manifest->former && manifest->former->key_transform == to;
  Manifest next = kept ? manifest->WithFormerKeys() : *manifest;
  next.index = manifest->index;
  next.description.key_transform = to;
  RESMEM_ASSIGN_OR_RETURN(const StoredRows rows, StoredRows::Load(change->files(), change->folder(),
                                                                  kept ? next : *manifest));
  // What is copied gets new checksums: nothing broken may get one.
  RESMEM_RETURN_IF_ERROR(rows.Verify(progress));
  if (!kept) RESMEM_RETURN_IF_ERROR(RewriteKeys(change, rows, progress, &next));
  if (kept && SameRequest(manifest->index, manifest->former->index)) {
    next.index = manifest->former->index;
  } else if (next.index) {
    RESMEM_ASSIGN_OR_RETURN(const StoredRows rewritten,
                            StoredRows::Load(change->files(), change->folder(), next));
    RESMEM_RETURN_IF_ERROR(RemakeIndex(change, rewritten, progress, &next));
  }
  next.former = std::move(replaced);
  *manifest = std::move(next);
  return {};
}

}  // namespace resmem
