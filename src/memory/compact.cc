// Living rows of all segments into one, byte for byte as if they had been written at once.
#include <algorithm>
#include <utility>
#include <vector>

#include "format/container_writer.h"
#include "memory/index/memory_index.h"
#include "memory/manifest/description.h"
#include "memory/manifest/file_names.h"
#include "memory/manifest/folder_change.h"
#include "memory/memory_changes.h"
#include "memory/residuals/residual_encoder.h"
#include "memory/rows/stored_rows.h"
#include "support/text.h"

namespace resmem {
namespace {

// Consecutive living rows of one segment.
struct Run {
  const Segment* segment;
  int64_t begin, rows;
};

// Long runs are cut, so that the caller hears from us and may cancel.
std::vector<Run> LivingRuns(const StoredRows& rows) {
  constexpr int64_t kLongest = 16384;
  std::vector<Run> runs;
  int64_t start = 0;
  auto deleted = rows.deleted().begin();
  for (const Segment& segment : rows.segments()) {
    for (int64_t begin = 0; begin < segment.rows();) {
      int64_t end = std::min(segment.rows(), begin + kLongest);
      const bool has_deleted = deleted != rows.deleted().end() && *deleted < start + end;
      if (has_deleted) end = *deleted - start;
      if (end > begin) runs.push_back({&segment, begin, end - begin});
      begin = end;
      if (has_deleted) {
        ++deleted;
        ++begin;
      }
    }
    start += segment.rows();
  }
  return runs;
}

int64_t CountRows(const std::vector<Run>& runs) {
  int64_t rows = 0;
  for (const Run& run : runs) rows += run.rows;
  return rows;
}

class Compactor {
 public:
  Compactor(std::vector<Run> runs, ResidualForm old_form, MemoryDescription description,
            Progress* progress)
      : old_form_(old_form),
        living_(CountRows(runs)),
        runs_(std::move(runs)),
        description_(std::move(description)),
        layout_(description_, living_, ContainerWriter::kAsAppended),
        progress_(progress) {}

  Result<FileRecord> Write(FolderChange* change) {
    const std::string name = change->NewName(kSegmentPrefix);
    RESMEM_ASSIGN_OR_RETURN(ContainerWriter writer,
                            ContainerWriter::Create(change->files(), change->PathOf(name),
                                                    FileKind::kSegment, layout_.sections));
    if (description_.has_sources) {
      RESMEM_RETURN_IF_ERROR(
          writer.AppendValues<uint64_t>(layout_.source_offsets, {&source_end_, 1}));
    }
    ResidualEncoder encoder(description_, layout_);
    int64_t done = 0;
    for (const Run& run : runs_) {
      if (progress_ != nullptr && progress_->Cancelled()) {
        return Status(
            ErrorCode::kCancelled,
            Text(change->folder(), ": compaction was cancelled, the memory is unchanged"));
      }
      RESMEM_RETURN_IF_ERROR(CopyRun(run, &writer));
      if (description_.form != old_form_) {
        RESMEM_RETURN_IF_ERROR(FreezeRun(run, &encoder, &writer));
      }
      done += run.rows;
      if (progress_ != nullptr) progress_->Report("compact", done, living_);
    }
    RESMEM_ASSIGN_OR_RETURN(const ContainerWriter::Finished finished, writer.Finish());
    return FileRecord{name, living_, finished.file_bytes, finished.header_hash};
  }

 private:
  // Every section that old and new have in common, and the sources.
  Status CopyRun(const Run& run, ContainerWriter* writer) {
    const ContainerReader& file = run.segment->file();
    for (size_t to = 0; to < layout_.sections.size(); ++to) {
      if (to == layout_.source_offsets || to == layout_.source_bytes) continue;
      const auto from = std::find_if(
          file.sections().begin(), file.sections().end(),
          [&](const auto& section) { return section.shape.name == layout_.sections[to].name; });
      if (from == file.sections().end()) continue;
      const auto section = static_cast<size_t>(from - file.sections().begin());
      const int64_t row_bytes = from->bytes / from->shape.rows;
      RESMEM_RETURN_IF_ERROR(writer->Append(
          to, file.Bytes(section).subspan(static_cast<size_t>(run.begin * row_bytes),
                                          static_cast<size_t>(run.rows * row_bytes))));
      file.Drop(section, run.begin * row_bytes, run.rows * row_bytes);
    }
    if (!description_.has_sources) return {};
    for (int64_t row = run.begin; row < run.begin + run.rows; ++row) {
      const std::string_view source = run.segment->source(row);
      source_end_ += source.size();
      RESMEM_RETURN_IF_ERROR(
          writer->AppendValues<uint64_t>(layout_.source_offsets, {&source_end_, 1}));
      RESMEM_RETURN_IF_ERROR(writer->AppendValues<char>(layout_.source_bytes, source));
    }
    return {};
  }

  Status FreezeRun(const Run& run, ResidualEncoder* encoder, ContainerWriter* writer) const {
    const float temperature = description_.parameters.temperature;
    return encoder->Append(
        run.rows,
        [&](int64_t row, float* out) { run.segment->Residual(run.begin + row, temperature, out); },
        writer);
  }

  ResidualForm old_form_;
  int64_t living_;
  std::vector<Run> runs_;
  MemoryDescription description_;
  SegmentLayout layout_;
  Progress* progress_;
  uint64_t source_end_ = 0;
};

Status Compact(FolderChange* change, const CompactOptions& options) {
  RESMEM_ASSIGN_OR_RETURN(const StoredRows rows,
                          StoredRows::Load(change->files(), change->folder()));
  Manifest manifest = change->current();
  MemoryDescription& description = manifest.description;
  const bool freeze = options.freeze && description.form == ResidualForm::kLogits;
  const std::optional<IndexRecord>& index = manifest.index;
  const bool indexed = !index || index->rows() == rows.capacity() ||
                       (index->obstacle && index->obstacle->rows == rows.capacity());
  if (!freeze && indexed && rows.deleted().empty() && rows.segments().size() <= 1) return {};
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
  manifest.segments.clear();
  if (rows.living() > 0) {
    Compactor compactor(LivingRuns(rows), rows.manifest().description.form, description,
                        options.progress);
    RESMEM_ASSIGN_OR_RETURN(FileRecord record, compactor.Write(change));
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
  std::vector<Run> runs;
  for (size_t i = range.begin; i < range.end; ++i) {
    const Segment& segment = rows.segments()[i];
    // What is copied gets new checksums: nothing broken may get one.
    RESMEM_RETURN_IF_ERROR(segment.file().VerifyBlocks());
    RESMEM_RETURN_IF_ERROR(segment.VerifyValues(manifest.next_id));
    if (segment.rows() > 0) runs.push_back({&segment, 0, segment.rows()});
  }
  Compactor compactor(std::move(runs), manifest.description.form, manifest.description, progress);
  RESMEM_ASSIGN_OR_RETURN(FileRecord record, compactor.Write(change));
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
