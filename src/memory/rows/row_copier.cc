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

// Pairs of a row and its id, from which on both ascend by one; empty where the ids are shorter.
std::vector<uint64_t> IdRunsOf(const std::vector<Run>& runs, int64_t rows) {
  std::vector<uint64_t> found;
  uint64_t number = 0, next = 0;
  for (const Run& run : runs) {
    for (int64_t row = run.begin; row < run.begin + run.rows; ++row, ++number) {
      const uint64_t id = run.segment->id(row);
      if (number == 0 || id != next) {
        found.push_back(number);
        found.push_back(id);
        if (std::ssize(found) >= rows) return {};
      }
      next = id + 1;
    }
  }
  return found;
}

// `text`: Segment::source or Segment::tags.
int64_t TextBytesOf(const std::vector<Run>& runs,
                    std::string_view (Segment::*text)(int64_t) const) {
  int64_t bytes = 0;
  for (const Run& run : runs) {
    for (int64_t row = run.begin; row < run.begin + run.rows; ++row) {
      bytes += std::ssize((run.segment->*text)(row));
    }
  }
  return bytes;
}

std::optional<int64_t> TagBytesOf(const std::vector<Run>& runs) {
  const int64_t bytes = TextBytesOf(runs, &Segment::tags);
  return bytes > 0 ? std::optional(bytes) : std::nullopt;
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
      id_runs_(description_.form == ResidualForm::kPacked ? IdRunsOf(runs_, count_)
                                                          : std::vector<uint64_t>()),
      transformer_(transformer),
      layout_(description_, count_,
              {.source_bytes = TextBytesOf(runs_, &Segment::source),
               .entries = ContainerWriter::kAsAppended,
               .id_runs = std::ssize(id_runs_) / 2,
               .tag_bytes = TagBytesOf(runs_)}),
      keys_(description_, layout_),
      residuals_(description_, layout_),
      progress_(progress),
      sources_(layout_.source_offsets, layout_.source_bytes),
      tags_(layout_.tag_offsets, layout_.tag_bytes) {}

Result<FileRecord> RowCopier::Write(FolderChange* change, const char* stage) {
  const std::string name = change->NewName(kSegmentPrefix);
  RESMEM_ASSIGN_OR_RETURN(ContainerWriter writer,
                          ContainerWriter::Create(change->files(), change->PathOf(name),
                                                  FileKind::kSegment, layout_.sections));
  RESMEM_RETURN_IF_ERROR(sources_.Begin(&writer));
  RESMEM_RETURN_IF_ERROR(tags_.Begin(&writer));
  if (description_.key_type == KeyType::kInt4 && !KeysAreCopied()) ChooseCenter();
  RESMEM_RETURN_IF_ERROR(WriteIdRuns(&writer));
  if (description_.key_type == KeyType::kInt4 && KeysAreCopied()) {
    const std::span<const float> center = rows_.segments().front().key_center();
    RESMEM_RETURN_IF_ERROR(writer.AppendValues<float>(layout_.key_center, center));
  }
  int64_t done = 0;
  for (const Run& run : runs_) {
    if (progress_ != nullptr && progress_->Cancelled()) {
      return Status(ErrorCode::kCancelled,
                    Text(change->folder(), ": it was cancelled, the memory is unchanged"));
    }
    RESMEM_RETURN_IF_ERROR(CopyRun(run, &writer));
    if (transformer_ != nullptr) {
      RESMEM_RETURN_IF_ERROR(TransformRun(run, &writer));
    } else if (!KeysAreCopied()) {
      RESMEM_RETURN_IF_ERROR(EncodeRun(run, &writer));
    }
    if (description_.form == ResidualForm::kPacked) {
      RESMEM_RETURN_IF_ERROR(PackRun(run, &writer));
    } else if (description_.form != rows_.manifest().description.form) {
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

bool RowCopier::KeysAreCopied() const {
  return transformer_ == nullptr && description_.key_type == rows_.manifest().description.key_type;
}

bool RowCopier::IsPacked(size_t section) const {
  return description_.form == ResidualForm::kPacked &&
         (section == layout_.ids || section == layout_.id_runs || section == layout_.labels ||
          section == layout_.counts || section == layout_.starts ||
          section == layout_.packed_dropped || section == layout_.entries);
}

Status RowCopier::WriteIdRuns(ContainerWriter* writer) {
  if (layout_.id_runs == SegmentLayout::kAbsent) return {};
  return writer->AppendValues<uint64_t>(layout_.id_runs, id_runs_);
}

void RowCopier::ChooseCenter() {
  constexpr int64_t kSample = 4096;
  const int64_t step = std::max<int64_t>(1, count_ / kSample);
  std::vector<int64_t> sample;
  int64_t number = 0;
  for (const Run& run : runs_) {
    for (int64_t row = 0; row < run.rows; ++row, ++number) {
      if (number % step == 0) sample.push_back(run.first + row);
    }
  }
  const auto dim = static_cast<size_t>(description_.dim);
  std::vector<float> keys(sample.size() * dim);
  if (transformer_ != nullptr) {
    std::vector<float> given(keys.size());
    rows_.GivenKeys(sample, /*threads=*/0, given);
    transformer_->Apply({given.data(), std::ssize(sample), description_.dim}, /*threads=*/0,
                        keys.data());
  } else {
    for (size_t i = 0; i < sample.size(); ++i) {
      rows_.DecodeKey(sample[i], std::span(keys).subspan(i * dim, dim));
    }
  }
  keys_.set_center(MeanOf({keys.data(), std::ssize(sample), description_.dim}));
}

Status RowCopier::CopyRun(const Run& run, ContainerWriter* writer) {
  const ContainerReader& file = run.segment->file();
  for (size_t to = 0; to < layout_.sections.size(); ++to) {
    if (to == layout_.source_offsets || to == layout_.source_bytes) continue;
    if (to == layout_.tag_offsets || to == layout_.tag_bytes) continue;
    if (to == layout_.key_center || IsPacked(to)) continue;
    if (transformer_ != nullptr && IsOfKeys(to)) continue;
    // The lengths of unit keys stay, whatever the type.
    if (!KeysAreCopied() && (to == layout_.keys || to == layout_.key_scales)) continue;
    const auto from = std::find_if(
        file.sections().begin(), file.sections().end(),
        [&](const auto& section) { return section.shape.name == layout_.sections[to].name; });
    if (from == file.sections().end()) continue;
    const auto section = static_cast<size_t>(from - file.sections().begin());
    const int64_t row_bytes = from->bytes / from->shape.rows;
    RESMEM_RETURN_IF_ERROR(
        writer->Append(to, file.Bytes(section).subspan(static_cast<size_t>(run.begin * row_bytes),
                                                       static_cast<size_t>(run.rows * row_bytes))));
    if (drops_) file.Drop(section, run.begin * row_bytes, run.rows * row_bytes);
  }
  for (int64_t row = run.begin; row < run.begin + run.rows; ++row) {
    RESMEM_RETURN_IF_ERROR(sources_.Append(run.segment->source(row), writer));
    RESMEM_RETURN_IF_ERROR(tags_.Append(run.segment->tags(row), writer));
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

Status RowCopier::EncodeRun(const Run& run, ContainerWriter* writer) {
  const auto dim = static_cast<size_t>(description_.dim);
  std::vector<float> keys;
  for (int64_t begin = 0; begin < run.rows; begin += kKeysTogether) {
    const int64_t count = std::min(kKeysTogether, run.rows - begin);
    keys.resize(static_cast<size_t>(count) * dim);
    for (int64_t i = 0; i < count; ++i) {
      run.segment->DecodeKey(run.begin + begin + i, keys.data() + static_cast<size_t>(i) * dim);
    }
    const MatrixView view(keys.data(), count, description_.dim);
    RESMEM_RETURN_IF_ERROR(CheckStoredKeys(view, description_, run.first + begin));
    RESMEM_RETURN_IF_ERROR(keys_.AppendKeys(view, writer));
  }
  return {};
}

Status RowCopier::PackRun(const Run& run, ContainerWriter* writer) {
  std::vector<int32_t> labels;
  std::vector<uint64_t> ids;
  for (int64_t row = run.begin; row < run.begin + run.rows; ++row) {
    labels.push_back(run.segment->label(row));
    if (layout_.ids != SegmentLayout::kAbsent) ids.push_back(run.segment->id(row));
  }
  RESMEM_RETURN_IF_ERROR(AppendLabels(layout_, labels, writer));
  if (!ids.empty()) RESMEM_RETURN_IF_ERROR(writer->AppendValues<uint64_t>(layout_.ids, ids));
  const ResidualForm from = rows_.manifest().description.form;
  if (from == ResidualForm::kPacked) {
    return residuals_.CopyPacked(*run.segment, run.begin, run.rows, writer);
  }
  if (from == ResidualForm::kSparse) {
    residuals_.set_dropped([&](int64_t row) {
      std::vector<float> scratch(static_cast<size_t>(description_.outputs));
      const float temperature = description_.parameters.temperature;
      return run.segment->ResidualMass(run.begin + row, temperature, scratch.data()).dropped;
    });
  }
  return FreezeRun(run, writer);
}

Status RowCopier::FreezeRun(const Run& run, ContainerWriter* writer) {
  const float temperature = description_.parameters.temperature;
  return residuals_.Append(
      run.rows,
      [&](int64_t row, float* out) { run.segment->Residual(run.begin + row, temperature, out); },
      writer);
}

}  // namespace resmem
