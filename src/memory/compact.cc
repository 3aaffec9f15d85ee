// Living rows of all segments into one, byte for byte as if they had been written at once.
#include <algorithm>
#include <utility>
#include <vector>

#include "memory/index/memory_index.h"
#include "memory/manifest/description.h"
#include "memory/manifest/file_names.h"
#include "memory/manifest/folder_change.h"
#include "memory/memory_changes.h"
#include "memory/rows/row_copier.h"
#include "support/text.h"

namespace resmem {
namespace {

Status Compact(FolderChange* change, const CompactOptions& options) {
  RESMEM_ASSIGN_OR_RETURN(const StoredRows rows,
                          StoredRows::Load(change->files(), change->folder()));
  Manifest manifest = change->current();
  MemoryDescription& description = manifest.description;
  const bool freeze = options.freeze && description.form == ResidualForm::kLogits;
  const std::optional<IndexRecord>& index = manifest.index;
  const bool indexed = !index || index->rows() == rows.capacity() ||
                       (index->obstacle && index->obstacle->rows == rows.capacity());
  if (!freeze && indexed && rows.deleted().empty() && rows.segments().size() <= 1) {
    if (!manifest.former) return {};
    manifest.former.reset();
    return change->Publish(std::move(manifest));
  }
  // What is copied gets new checksums: nothing broken may get one.
  RESMEM_RETURN_IF_ERROR(rows.Verify(options.progress));
  if (freeze) {
    // The default answer needs the residuals at its own temperature.
    if (description.blend) {
      description.parameters.temperature = description.blend->parameters.temperature;
    }
    description.form = FrozenForm(description.outputs);
    RESMEM_ASSIGN_OR_RETURN(description, NormalizeDescription(description));
  }
  manifest.deletions.reset();
  manifest.former.reset();
  manifest.segments.clear();
  if (rows.living() > 0) {
    RowCopier copier(rows, LivingRuns(rows), description, nullptr, options.progress);
    RESMEM_ASSIGN_OR_RETURN(FileRecord record, copier.Write(change, "compact"));
    manifest.segments.push_back(std::move(record));
  }
  if (manifest.index) {
    RESMEM_ASSIGN_OR_RETURN(const StoredRows compacted,
                            StoredRows::Load(change->files(), change->folder(), manifest));
    RESMEM_RETURN_IF_ERROR(RemakeIndex(change, compacted, options.progress, &manifest));
  }
  return change->Publish(std::move(manifest));
}

}  // namespace

Status CompactMemory(FileSystem& files, const std::string& path, const CompactOptions& options) {
  return ChangeMemory(files, path, {options.wait_seconds, options.progress},
                      [&](FolderChange* change) { return Compact(change, options); });
}

namespace {

struct SegmentRange {
  size_t begin = 0, end = 0;
};

// Appends of so many rows are worth a segment of their own, up to a few thousand segments.
constexpr int64_t kEnoughRows = 16384, kEnoughSegments = 4096;

// The longest run of small segments inside one part of the index or behind all of them.
SegmentRange LongestSmallRun(const Manifest& manifest) {
  const int64_t rows = manifest.stored_rows();
  const int64_t small = std::min(rows / 16, std::max(kEnoughRows, rows / kEnoughSegments));
  std::vector<int64_t> part_ends;
  if (manifest.index) {
    for (const IndexPart& part : manifest.index->parts) {
      part_ends.push_back((part_ends.empty() ? 0 : part_ends.back()) + part.file.rows);
    }
  }
  SegmentRange best, run;
  int64_t row = 0;
  for (size_t i = 0; i < manifest.segments.size(); ++i) {
    const bool new_part = std::binary_search(part_ends.begin(), part_ends.end(), row);
    if (new_part || manifest.segments[i].rows > small) run = {i, i};
    if (manifest.segments[i].rows <= small) {
      run.end = i + 1;
    } else {
      run = {i + 1, i + 1};
    }
    if (run.end - run.begin > best.end - best.begin) best = run;
    row += manifest.segments[i].rows;
  }
  return best;
}

constexpr size_t kManySegments = 64;

Status MergeOneRun(FolderChange* change, Progress* progress) {
  Manifest manifest = change->current();
  if (manifest.segments.size() <= kManySegments) return {};
  const SegmentRange range = LongestSmallRun(manifest);
  if (range.end - range.begin < 2) return {};
  RESMEM_ASSIGN_OR_RETURN(const StoredRows rows,
                          StoredRows::Load(change->files(), change->folder(), manifest));
  for (size_t i = range.begin; i < range.end; ++i) {
    const Segment& segment = rows.segments()[i];
    // What is copied gets new checksums: nothing broken may get one.
    RESMEM_RETURN_IF_ERROR(segment.file().VerifyBlocks());
    RESMEM_RETURN_IF_ERROR(segment.VerifyValues(manifest.next_id));
  }
  RowCopier copier(rows, AllRuns(rows, range.begin, range.end), manifest.description, nullptr,
                   progress);
  RESMEM_ASSIGN_OR_RETURN(FileRecord record, copier.Write(change, "compact"));
  const auto first = manifest.segments.begin() + static_cast<std::ptrdiff_t>(range.begin);
  const auto last = manifest.segments.begin() + static_cast<std::ptrdiff_t>(range.end);
  *first = std::move(record);
  manifest.segments.erase(first + 1, last);
  return change->Publish(std::move(manifest));
}

}  // namespace

Status MergeSegments(FileSystem& files, const std::string& path, const ChangeOptions& options) {
  while (true) {
    RESMEM_ASSIGN_OR_RETURN(const Manifest before, ReadManifest(files, path));
    if (before.segments.size() <= kManySegments) return {};
    RESMEM_RETURN_IF_ERROR(ChangeMemory(files, path, options, [&](FolderChange* change) {
      return MergeOneRun(change, options.progress);
    }));
    RESMEM_ASSIGN_OR_RETURN(const Manifest after, ReadManifest(files, path));
    if (after.segments.size() >= before.segments.size()) return {};
  }
}

}  // namespace resmem
