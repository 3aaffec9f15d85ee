#include "memory/rows/row_copier.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "memory/manifest/file_names.h"
#include "memory/rows/check_rows.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr int64_t kLongestRun = 16384;
constexpr int64_t kKeysTogether = 1024;  // of a run whose keys are transformed

int64_t CountRows(const std::vector<Run>& runs) {
  int64_t rows = 0;
  for (const Run& run : runs) rows += run.rows;
  return rows;
}

}  // namespace

std::vector<Run> LivingRuns(const StoredRows& rows) {
  std::vector<Run> runs;
  int64_t start = 0;
  auto deleted = rows.deleted().begin();
  for (const Segment& segment : rows.segments()) {
    for (int64_t begin = 0; begin < segment.rows();) {
      int64_t end = std::min(segment.rows(), begin + kLongestRun);
      const bool has_deleted = deleted != rows.deleted().end() && *deleted < start + end;
      if (has_deleted) end = *deleted - start;
      if (end > begin) runs.push_back({&segment, begin, end - begin, start + begin});
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

std::vector<Run> AllRuns(const StoredRows& rows, size_t first, size_t end) {
  std::vector<Run> runs;
  int64_t start = 0;
  for (size_t i = 0; i < end; ++i) {
    const Segment& segment = rows.segments()[i];
    for (int64_t begin = 0; i >= first && begin < segment.rows(); begin += kLongestRun) {
      const int64_t count = std::min(kLongestRun, segment.rows() - begin);
      runs.push_back({&segment, begin, count, start + begin});
    }
    start += segment.rows();
  }
  return runs;
}

RowCopier::RowCopier(const StoredRows& rows, std::vector<Run> runs, MemoryDescription description,
                     const KeyTransformer* transformer, Progress* progress)
    : rows_(rows),
      runs_(std::move(runs)),
      count_(CountRows(runs_)),
      description_(std::move(description)),
      transformer_(transformer),
      layout_(description_, count_, ContainerWriter::kAsAppended),
      keys_(description_, layout_),
      residuals_(description_, layout_),
      progress_(progress) {}

Result<FileRecord> RowCopier::Write(FolderChange* change, const char* stage) {
  const std::string name = change->NewName(kSegmentPrefix);
  RESMEM_ASSIGN_OR_RETURN(ContainerWriter writer,
                          ContainerWriter::Create(change->files(), change->PathOf(name),
                                                  FileKind::kSegment, layout_.sections));
  if (description_.has_sources) {
    RESMEM_RETURN_IF_ERROR(
        writer.AppendValues<uint64_t>(layout_.source_offsets, {&source_end_, 1}));
  }
  int64_t done = 0;
  for (const Run& run : runs_) {
    if (progress_ != nullptr && progress_->Cancelled()) {
      return Status(ErrorCode::kCancelled,
                    Text(change->folder(), ": it was cancelled, the memory is unchanged"));
    }
    RESMEM_RETURN_IF_ERROR(CopyRun(run, &writer));
    if (transformer_ != nullptr) RESMEM_RETURN_IF_ERROR(TransformRun(run, &writer));
    if (description_.form != rows_.manifest().description.form) {
      RESMEM_RETURN_IF_ERROR(FreezeRun(run, &writer));
    }
    done += run.rows;
    if (progress_ != nullptr) progress_->Report(stage, done, count_);
  }
  RESMEM_ASSIGN_OR_RETURN(const ContainerWriter::Finished finished, writer.Finish());
  return FileRecord{name, count_, finished.file_bytes, finished.header_hash};
}

bool RowCopier::IsOfKeys(size_t section) const {
  return section == layout_.keys || section == layout_.key_scales || section == layout_.key_norms;
}

Status RowCopier::CopyRun(const Run& run, ContainerWriter* writer) {
  const ContainerReader& file = run.segment->file();
  for (size_t to = 0; to < layout_.sections.size(); ++to) {
    if (to == layout_.source_offsets || to == layout_.source_bytes) continue;
    if (transformer_ != nullptr && IsOfKeys(to)) continue;
    const auto from = std::find_if(
        file.sections().begin(), file.sections().end(),
        [&](const auto& section) { return section.shape.name == layout_.sections[to].name; });
    if (from == file.sections().end()) continue;
    const auto section = static_cast<size_t>(from - file.sections().begin());
    const int64_t row_bytes = from->bytes / from->shape.rows;
    RESMEM_RETURN_IF_ERROR(
        writer->Append(to, file.Bytes(section).subspan(static_cast<size_t>(run.begin * row_bytes),
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

Status RowCopier::TransformRun(const Run& run, ContainerWriter* writer) {
  const auto dim = static_cast<size_t>(description_.dim);
  std::vector<int64_t> numbers;
  std::vector<float> given, transformed, norms;
  for (int64_t begin = 0; begin < run.rows; begin += kKeysTogether) {
    numbers.resize(static_cast<size_t>(std::min(kKeysTogether, run.rows - begin)));
    std::iota(numbers.begin(), numbers.end(), run.first + begin);
    given.resize(numbers.size() * dim);
    transformed.resize(given.size());
    norms.resize(numbers.size());
    rows_.GivenKeys(numbers, /*threads=*/0, given);
    const int64_t count = std::ssize(numbers);
    transformer_->Apply({given.data(), count, description_.dim}, /*threads=*/0, transformed.data(),
                        norms.data());
    const MatrixView keys(transformed.data(), count, description_.dim);
    RESMEM_RETURN_IF_ERROR(CheckStoredKeys(keys, description_, run.first + begin));
    RESMEM_RETURN_IF_ERROR(keys_.Append(keys, norms, writer));
  }
  return {};
}

Status RowCopier::FreezeRun(const Run& run, ContainerWriter* writer) {
  const float temperature = description_.parameters.temperature;
  return residuals_.Append(
      run.rows,
      [&](int64_t row, float* out) { run.segment->Residual(run.begin + row, temperature, out); },
      writer);
}

}  // namespace resmem
