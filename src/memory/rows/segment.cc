#include "memory/rows/segment.h"

#include <algorithm>
#include <utility>

#include "format/checksum.h"
#include "kernels/int4_keys.h"
#include "kernels/number_codec.h"
#include "memory/manifest/recorded_file.h"
#include "support/text.h"

namespace resmem {
namespace {

template <typename T>
const T* Start(const ContainerReader& file, size_t section) {
  return section == SegmentLayout::kAbsent ? nullptr : file.Values<T>(section).data();
}

// What the file says; the table is compared with the one that follows from it.
SegmentSizes SizesOf(const ContainerReader& file) {
  SegmentSizes sizes;
  for (const ContainerReader::Section& section : file.sections()) {
    if (section.shape.name == kSourceBytesName) sizes.source_bytes = section.shape.rows;
    if (section.shape.name == kEntriesName) sizes.entries = section.shape.rows;
    if (section.shape.name == kIdRunsName) sizes.id_runs = section.shape.rows;
    if (section.shape.name == kTagBytesName) sizes.tag_bytes = section.shape.rows;
  }
  return sizes;
}

}  // namespace

Result<Segment> Segment::Open(FileSystem& files, const std::string& folder,
                              const MemoryDescription& description, const FileRecord& record) {
  RESMEM_ASSIGN_OR_RETURN(ContainerReader file,
                          OpenRecordedFile(files, folder, record, FileKind::kSegment));
  const SegmentSizes sizes = SizesOf(file);
  const SegmentLayout expected(description, record.rows, sizes);
  RESMEM_RETURN_IF_ERROR(file.ExpectSections(expected.sections));
  Segment segment(std::move(file), description, sizes, record.rows);
  RESMEM_RETURN_IF_ERROR(segment.CheckLabels());
  RESMEM_RETURN_IF_ERROR(segment.CheckIdRuns());
  RESMEM_RETURN_IF_ERROR(segment.CheckCenter());
  RESMEM_RETURN_IF_ERROR(segment.CheckEntries());
  RESMEM_RETURN_IF_ERROR(
      segment.CheckTexts(segment.sources_, segment.layout_.source_bytes, "sources"));
  RESMEM_RETURN_IF_ERROR(segment.CheckTexts(segment.tags_, segment.layout_.tag_bytes, "tags"));
  return segment;
}

Segment::Segment(ContainerReader file, const MemoryDescription& description,
                 const SegmentSizes& sizes, int64_t rows)
    : file_(std::move(file)),
      layout_(description, rows, sizes),
      rows_(rows),
      dim_(description.dim),
      outputs_(description.outputs),
      top_(description.top),
      key_type_(description.key_type),
      form_(description.form) {
  switch (key_type_) {
    case KeyType::kFloat32:
      keys_ = std::as_bytes(file_.Values<float>(layout_.keys)).data();
      break;
    case KeyType::kFloat16:
      keys_ = std::as_bytes(file_.Values<uint16_t>(layout_.keys)).data();
      break;
    case KeyType::kInt8:
      keys_ = std::as_bytes(file_.Values<int8_t>(layout_.keys)).data();
      break;
    case KeyType::kInt4:
      keys_ = std::as_bytes(file_.Values<uint8_t>(layout_.keys)).data();
      break;
  }
  key_center_ = Start<float>(file_, layout_.key_center);
  key_scales_ = Start<float>(file_, layout_.key_scales);
  key_norms_ = Start<float>(file_, layout_.key_norms);
  ids_ = Start<uint64_t>(file_, layout_.ids);
  id_runs_ = Start<uint64_t>(file_, layout_.id_runs);
  counts_ = Start<uint8_t>(file_, layout_.counts);
  starts_ = Start<uint64_t>(file_, layout_.starts);
  packed_dropped_ = Start<uint16_t>(file_, layout_.packed_dropped);
  entries_ = Start<std::byte>(file_, layout_.entries);
  const StoredType label_type = layout_.labels == SegmentLayout::kAbsent
                                    ? StoredType::kI32
                                    : layout_.sections[layout_.labels].type;
  if (label_type == StoredType::kU8) {
    byte_labels_ = Start<uint8_t>(file_, layout_.labels);
  } else if (label_type == StoredType::kU16) {
    short_labels_ = Start<uint16_t>(file_, layout_.labels);
  } else {
    labels_ = Start<int32_t>(file_, layout_.labels);
  }
  targets_ = Start<float>(file_, layout_.targets);
  logits_ = Start<float>(file_, layout_.logits);
  dropped_ = Start<float>(file_, layout_.dropped);
  sources_ = {Start<uint64_t>(file_, layout_.source_offsets),
              Start<char>(file_, layout_.source_bytes)};
  tags_ = {Start<uint64_t>(file_, layout_.tag_offsets), Start<char>(file_, layout_.tag_bytes)};
  const size_t values = std::min(layout_.residuals, layout_.top_values);
  if (description.half_residuals) {
    half_residuals_ = Start<uint16_t>(file_, values);
  } else {
    residuals_ = Start<float>(file_, values);
  }
  if (layout_.top_classes == SegmentLayout::kAbsent) return;
  if (layout_.sections[layout_.top_classes].type == StoredType::kU16) {
    narrow_classes_ = Start<uint16_t>(file_, layout_.top_classes);
  } else {
    wide_classes_ = Start<uint32_t>(file_, layout_.top_classes);
  }
}

int32_t Segment::NarrowLabel(int64_t row) const {
  return byte_labels_ != nullptr ? int32_t{byte_labels_[row]} : int32_t{short_labels_[row]};
}

Status Segment::CheckLabels() const {
  if (byte_labels_ != nullptr || short_labels_ != nullptr) {
    for (int64_t row = 0; row < rows_; ++row) {
      if (NarrowLabel(row) < outputs_) continue;
      return file_.Corrupt(
          Text("row ", row, " has label ", NarrowLabel(row), ", allowed are 0 to ", outputs_ - 1));
    }
  }
  if (labels_ == nullptr) return {};
  // A negative label is a very large unsigned one.
  const auto classes = static_cast<uint32_t>(outputs_);
  const int32_t* const end = labels_ + rows_;
  const int32_t* const bad = std::find_if(
      labels_, end, [&](int32_t label) { return static_cast<uint32_t>(label) >= classes; });
  if (bad == end) return {};
  return file_.Corrupt(
      Text("row ", bad - labels_, " has label ", *bad, ", allowed are 0 to ", outputs_ - 1));
}

Status Segment::CheckTexts(const Texts& texts, size_t bytes_section, const char* what) const {
  if (texts.offsets == nullptr) return {};
  const auto size = static_cast<uint64_t>(layout_.sections[bytes_section].rows);
  if (texts.offsets[0] != 0 || texts.offsets[rows_] != size ||
      !std::is_sorted(texts.offsets, texts.offsets + rows_ + 1)) {
    return file_.Corrupt(Text("the offsets of its ", what, " do not ascend from 0 to ", size));
  }
  return {};
}

KeyBlock Segment::keys() const {
  return {key_type_, keys_, key_scales_, rows_, key_center_};
}

void Segment::RequireRows(size_t section, int64_t begin, int64_t count) const {
  const SectionShape& shape = layout_.sections[section];
  const int64_t row_bytes = shape.columns * StoredBytes(shape.type);
  file_.Require(section, begin * row_bytes, count * row_bytes);
}

void Segment::RequireKeys(int64_t begin, int64_t count) const {
  if (file_.checked()) return;
  RequireRows(layout_.keys, begin, count);
  if (key_scales_ != nullptr) RequireRows(layout_.key_scales, begin, count);
  if (key_center_ != nullptr) RequireRows(layout_.key_center, 0, 1);
}

void Segment::RequireResidualBlocks(int64_t row) const {
  for (const size_t section :
       {layout_.logits, layout_.residuals, layout_.top_values, layout_.top_classes}) {
    if (section != SegmentLayout::kAbsent) RequireRows(section, row, 1);
  }
  if (entries_ == nullptr) return;
  const std::span<const std::byte> entries = PackedEntries(row);
  file_.Require(layout_.entries, entries.data() - entries_, std::ssize(entries));
}

Status Segment::VerifyNarrow() const {
  for (const size_t section :
       {layout_.key_center, layout_.key_scales, layout_.key_norms, layout_.ids, layout_.id_runs,
        layout_.labels, layout_.dropped, layout_.counts, layout_.starts, layout_.packed_dropped,
        layout_.source_offsets, layout_.source_bytes, layout_.tag_offsets, layout_.tag_bytes}) {
    if (section != SegmentLayout::kAbsent) RESMEM_RETURN_IF_ERROR(file_.VerifySection(section));
  }
  return {};
}

void Segment::DecodeKey(int64_t row, float* key) const {
  RequireKeys(row, 1);
  const int64_t begin = row * dim_;
  switch (key_type_) {
    case KeyType::kFloat32:
      std::copy_n(reinterpret_cast<const float*>(keys_) + begin, dim_, key);
      break;
    case KeyType::kFloat16:
      HalfToFloat(reinterpret_cast<const uint16_t*>(keys_) + begin, dim_, key);
      break;
    case KeyType::kInt8:
      Int8ToFloat(reinterpret_cast<const int8_t*>(keys_) + begin, dim_, key_scales_[row], key);
      break;
    case KeyType::kInt4:
      Int4ToFloat(reinterpret_cast<const uint8_t*>(keys_) + row * Int4Bytes(dim_), dim_,
                  key_scales_[row], key_center_, key);
      break;
  }
}

std::string_view Segment::Texts::at(int64_t row) const {
  if (offsets == nullptr) return {};
  const uint64_t begin = offsets[row], end = offsets[row + 1];
  // They ascended when the file was opened; a page that was lost since reads as zeros.
  if (begin > end) return {};
  return {bytes + begin, static_cast<size_t>(end - begin)};
}

}  // namespace resmem
