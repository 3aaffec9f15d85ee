#include "memory/compress_memory.h"

#include <memory>
#include <utility>

#include "memory/keys/transform_file.h"
#include "memory/manifest/description.h"
#include "memory/manifest/file_names.h"
#include "memory/manifest/folder_change.h"
#include "memory/rows/row_copier.h"
#include "support/text.h"

namespace resmem {
namespace {

Status Write(FolderChange* change, const StoredRows& rows, const MemoryDescription& description,
             Progress* progress) {
  Manifest manifest;
  manifest.description = description;
  manifest.next_id = rows.manifest().next_id;
  manifest.append_tokens = rows.manifest().append_tokens;
  if (description.key_transform == KeyTransform::kWhiten) {
    RESMEM_ASSIGN_OR_RETURN(
        manifest.transform,
        WriteTransform(change->files(), change->folder(), change->NewName(kTransformPrefix),
                       rows.transformer().matrix(), description.dim));
  }
  if (rows.living() > 0) {
    RowCopier copier(rows, LivingRuns(rows), description, nullptr, progress);
    RESMEM_ASSIGN_OR_RETURN(FileRecord record, copier.Write(change, "compress"));
    manifest.segments.push_back(std::move(record));
  }
  return change->Publish(std::move(manifest));
}

}  // namespace

Status WriteCompressed(FileSystem& from_files, const std::string& from, FileSystem& to_files,
                       const std::string& to, const MemoryDescription& form, bool overwrite,
                       Progress* progress) {
  RESMEM_ASSIGN_OR_RETURN(const StoredRows rows, StoredRows::Load(from_files, from));
  MemoryDescription description = rows.manifest().description;
  const bool packs = form.form == ResidualForm::kPacked;
  if (description.form == ResidualForm::kPacked) {
    return {ErrorCode::kUnsupported,
            Text(from, ": its residuals are packed already; compress the memory it was made from")};
  }
  if (packs && description.task == Task::kRegression) {
    return {ErrorCode::kUnsupported,
            Text(from,
                 ": is a regression, whose residuals cannot be packed; only its keys can be "
                 "of another type")};
  }
  description.key_type = form.key_type;
  description.notes = form.notes;
  if (packs) {
    // The default answer needs the residuals at its own temperature.
    if (description.form == ResidualForm::kLogits && description.blend) {
      description.parameters.temperature = description.blend->parameters.temperature;
    }
    description.form = ResidualForm::kPacked;
    description.half_residuals = false;
    description.top = form.top;
    description.packed_share = form.packed_share;
    description.packed_least = form.packed_least;
  }
  description.created.clear();
  RESMEM_ASSIGN_OR_RETURN(description, NormalizeDescription(std::move(description)));
  // What is copied gets new checksums: nothing broken may get one.
  RESMEM_RETURN_IF_ERROR(rows.Verify(progress));
  using Start = FolderChange::Start;
  RESMEM_ASSIGN_OR_RETURN(
      const std::unique_ptr<FolderChange> change,
      FolderChange::Begin(to_files, to, overwrite ? Start::kNewOrReplace : Start::kNew));
  return change->Try([&] { return Write(change.get(), rows, description, progress); });
}

}  // namespace resmem
