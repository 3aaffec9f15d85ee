// Another key transform for a memory that has rows.
#ifndef RESMEM_MEMORY_KEYS_REWRITE_KEYS_H_
#define RESMEM_MEMORY_KEYS_REWRITE_KEYS_H_

#include "memory/manifest/folder_change.h"
#include "memory/rows/stored_rows.h"

namespace resmem {

// Writes all `rows` again, deleted ones too, with the transform and the type of key that the
// description of `manifest`, not yet published, asks for; sets its segments and its transform.
Status RewriteKeys(FolderChange* change, const StoredRows& rows, Progress* progress,
                   Manifest* manifest);

// Gives the unpublished `manifest` of the memory keys of another transform, and an index of them
// where it has one: its former keys where they are of this transform, else new ones.  Those that it
// had become the former.
Status ChangeKeys(FolderChange* change, KeyTransform to, Progress* progress, Manifest* manifest);

}  // namespace resmem

#endif  // RESMEM_MEMORY_KEYS_REWRITE_KEYS_H_
