#include "memory/memory_changes.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "memory/keys/rewrite_keys.h"
#include "memory/manifest/answer.h"
#include "memory/manifest/description.h"
#include "memory/manifest/file_names.h"
#include "memory/manifest/folder_change.h"
#include "memory/rows/deletions.h"
#include "memory/rows/id_index.h"
#include "memory/rows/stored_rows.h"
#include "support/guard.h"
#include "support/text.h"

namespace resmem {

Status DeleteRows(FileSystem& files, const std::string& path, std::span<const uint64_t> ids,
                  const ChangeOptions& options) {
  return ChangeMemory(files, path, options, [&](FolderChange* change) -> Status {
    RESMEM_RETURN_IF_ERROR(CheckOwnRows(path, change->current()));
    RESMEM_ASSIGN_OR_RETURN(const StoredRows rows, StoredRows::Load(files, change->folder()));
    RESMEM_RETURN_IF_ERROR(rows.VerifyIds());
    const IdIndex index(rows);
    std::vector<int64_t> deleted = rows.deleted();
    for (const uint64_t id : ids) {
      const std::optional<int64_t> row = index.Find(id);
      if (!row) {
        return {ErrorCode::kNotFound,
                Text(path, ": no living row has the id ", id, "; nothing was deleted")};
      }
      deleted.push_back(*row);
    }
    std::sort(deleted.begin(), deleted.end());
    deleted.erase(std::unique(deleted.begin(), deleted.end()), deleted.end());
    if (deleted.size() == rows.deleted().size()) return {};
    Manifest manifest = change->current();
    manifest.former.reset();
    RESMEM_ASSIGN_OR_RETURN(
        manifest.deletions,
        WriteDeletions(files, change->folder(), change->NewName(kDeletionsPrefix), deleted));
    return change->Publish(std::move(manifest));
  });
}

Status UpdateDescription(FileSystem& files, const std::string& path,
                         const MemoryDescription& description, const ChangeOptions& options) {
  RESMEM_RETURN_IF_ERROR(CheckDescription(description));
  return ChangeMemory(files, path, options, [&](FolderChange* change) -> Status {
    Manifest manifest = change->current();
    MemoryDescription& current = manifest.description;
    if (description.task != current.task || description.dim != current.dim ||
        description.outputs != current.outputs || description.form != current.form) {
      return {
          ErrorCode::kInvalidArgument,
          Text(path, ": the description is of another memory: ", TaskName(description.task), ", ",
               description.dim, " dimensions, ", description.outputs, " outputs, ",
               ResidualFormName(description.form), " where this one has ", TaskName(current.task),
               ", ", current.dim, ", ", current.outputs, ", ", ResidualFormName(current.form))};
    }
    const bool frozen =
        current.form != ResidualForm::kLogits && current.task == Task::kClassification;
    if (frozen && description.parameters.temperature != current.parameters.temperature) {
      return {ErrorCode::kInvalidArgument,
              Text(path, ": temperature ", description.parameters.temperature,
                   " was asked, but the residuals are frozen at ", current.parameters.temperature,
                   "; build the memory with logits to change it")};
    }
    current.parameters = description.parameters;
    current.tuned = description.tuned;
    current.calibrator = description.calibrator;
    current.calibrator_temperature = description.calibrator_temperature;
    current.answer = description.answer;
    current.blend = description.blend;
    // Notes of a later tuning: there is no way back behind the earlier one.
    if (current.notes != description.notes && description.key_transform == current.key_transform) {
      manifest.former.reset();
    }
    current.notes = description.notes;
    RESMEM_RETURN_IF_ERROR(CheckAnswer(current));
    if (description.key_transform != current.key_transform) {
      RESMEM_RETURN_IF_ERROR(
          ChangeKeys(change, description.key_transform, options.progress, &manifest));
    }
    return change->Publish(std::move(manifest));
  });
}

Status DeleteRows(const std::string& path, std::span<const uint64_t> ids,
                  const ChangeOptions& options) try {
  return DeleteRows(FileSystem::Of(path), path, ids, options);
} catch (...) {
  return CaughtException("delete the rows");
}

Status CompactMemory(const std::string& path, const CompactOptions& options) try {
  return CompactMemory(FileSystem::Of(path), path, options);
} catch (...) {
  return CaughtException("compact the memory");
}

Status UpdateDescription(const std::string& path, const MemoryDescription& description,
                         const ChangeOptions& options) try {
  return UpdateDescription(FileSystem::Of(path), path, description, options);
} catch (...) {
  return CaughtException("update the memory");
}

}  // namespace resmem
