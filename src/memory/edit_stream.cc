#include "resmem_program/edit_stream.h"

#include <utility>

#include "memory/manifest/folder_change.h"
#include "memory/memory_changes.h"
#include "memory/memory_parts.h"
#include "memory/rows/row_writer.h"
#include "support/guard.h"
#include "support/text.h"

namespace resmem {

std::optional<StreamPosition> PositionOf(const ResidualMemory& memory) {
  return MemoryParts::Rows(memory).manifest().stream;
}

Status ApplyEdits(const std::string& path, int64_t from, const StreamedEdits& edits,
                  const ChangeOptions& options) try {
  if (edits.position.sequence <= from || std::ssize(edits.learn.ids) != edits.learn.keys.rows) {
    return {ErrorCode::kInvalidArgument,
            Text("edits ", from, " to ", edits.position.sequence, " with ", edits.learn.keys.rows,
                 " rows and ", edits.learn.ids.size(), " ids are no change of a memory")};
  }
  FileSystem& files = FileSystem::Of(path);
  RESMEM_ASSIGN_OR_RETURN(const std::unique_ptr<RowWriter> writer,
                          RowWriter::Follow(files, path, from, edits, options));
  if (edits.learn.count() > 0) RESMEM_RETURN_IF_ERROR(writer->Add(edits.learn));
  RESMEM_RETURN_IF_ERROR(writer->Finish(options.progress));
  // A change of its own, which may fail: the next edits try again.
  if (edits.learn.count() > 0) (void)MergeSegments(files, path, options).ok();
  return {};
} catch (...) {
  return CaughtException("apply the edits");
}

Status LeaveStream(const std::string& path, const ChangeOptions& options) try {
  return ChangeMemory(FileSystem::Of(path), path, options, [&](FolderChange* change) -> Status {
    Manifest manifest = change->current();
    if (!manifest.stream) {
      return {ErrorCode::kNotFound, Text(path, ": follows no stream of edits")};
    }
    manifest.stream.reset();
    return change->Publish(std::move(manifest));
  });
} catch (...) {
  return CaughtException("take the memory out of its stream");
}

}  // namespace resmem
