#include "resmem_program/row_parts.h"

#include <string>
#include <utility>
#include <vector>

#include "memory/manifest/file_names.h"
#include "memory/memory_parts.h"
#include "memory/rows/row_copier.h"
#include "resmem/ram_memory.h"
#include "support/files/ram_file_system.h"
#include "support/guard.h"
#include "support/text.h"

namespace resmem {
namespace {

Status CheckTransform(const MemoryDescription& description) {
  if (description.key_transform != KeyTransform::kWhiten) return {};
  return {
      ErrorCode::kUnsupported,
      "the keys are whitened, each memory's in its own way; cut a memory with the key transform "
      "none or unit into shards"};
}

// The rows as they lie, neighbors of one segment together.
Result<std::vector<Run>> RunsOf(const StoredRows& stored, std::span<const int64_t> rows) {
  std::vector<Run> runs;
  for (const int64_t row : rows) {
    if (row < 0 || row >= stored.capacity()) {
      return Status(ErrorCode::kInvalidArgument,
                    Text("row ", row, ": the memory has rows 0 to ", stored.capacity() - 1));
    }
    const auto [segment, local] = stored.Find(row);
    // What is copied gets new checksums: nothing broken may get one.
    segment->RequireKeys(local, 1);
    segment->key_norm(local);
    segment->RequireResidual(local);
    if (stored.manifest().description.task == Task::kRegression) segment->target(local);
    if (!runs.empty() && runs.back().segment == segment &&
        runs.back().begin + runs.back().rows == local) {
      ++runs.back().rows;
    } else {
      runs.push_back({segment, local, 1, row});
    }
  }
  return runs;
}

std::string NameOfPart(size_t part) {
  return NumberedName(kSegmentPrefix, static_cast<int64_t>(part) + 1);
}

}  // namespace

Result<RowPart> CopyRows(const ResidualMemory& memory, std::span<const int64_t> rows) try {
  if (rows.empty()) return Status(ErrorCode::kInvalidArgument, "no rows to copy were given");
  RESMEM_RETURN_IF_ERROR(CheckTransform(memory.description()));
  const StoredRows& stored = MemoryParts::Rows(memory);
  RESMEM_ASSIGN_OR_RETURN(std::vector<Run> runs, RunsOf(stored, rows));
  const RamFolder folder;
  RESMEM_ASSIGN_OR_RETURN(
      const std::unique_ptr<FolderChange> change,
      FolderChange::Begin(RamFiles(), folder.path(), FolderChange::Start::kNew));
  RowCopier copier(stored, std::move(runs), memory.description(), nullptr, nullptr);
  copier.KeepPages();
  RESMEM_ASSIGN_OR_RETURN(const FileRecord record, copier.Write(change.get(), "copy"));
  RESMEM_ASSIGN_OR_RETURN(MappedFile file, RamFiles().Map(change->PathOf(record.file)));
  RESMEM_RETURN_IF_ERROR(MemoryParts::CheckFiles(memory));
  RowPart part{record.rows, record.header_hash};
  const auto kept = std::make_shared<const MappedFile>(std::move(file));
  part.bytes = kept->bytes();
  part.owner = kept;
  return part;
} catch (...) {
  return CaughtException("copy the rows");
}

Result<ResidualMemory> OpenRowParts(const ResidualMemory& like,
                                    std::span<const RowPart> parts) try {
  RESMEM_RETURN_IF_ERROR(CheckTransform(like.description()));
  Manifest manifest;
  manifest.description = like.description();
  manifest.next_id = kLargestId + 1;
  RamFolder folder;
  std::vector<MemoryFile> files;
  for (size_t i = 0; i < parts.size(); ++i) {
    files.push_back({NameOfPart(i), parts[i].bytes});
    manifest.segments.push_back({files.back().name, parts[i].rows,
                                 static_cast<int64_t>(parts[i].bytes.size()),
                                 parts[i].header_hash});
  }
  RESMEM_RETURN_IF_ERROR(folder.Fill(files));
  RESMEM_ASSIGN_OR_RETURN(StoredRows rows,
                          StoredRows::Load(RamFiles(), folder.path(), std::move(manifest)));
  RESMEM_RETURN_IF_ERROR(rows.Verify(nullptr));
  return MemoryParts::OfRows(std::move(rows), folder.path());
} catch (...) {
  return CaughtException("open the rows");
}

}  // namespace resmem
