// The rows of one segment file, mapped.  Rows are numbered from 0 here.  Copies share the map.
//
// Const methods may be called from any number of threads and require 0 <= row < rows().  Keys,
// targets, logits and residuals are checked when they are first read: where a block is broken, the
// method throws StatusError.
#ifndef RESMEM_MEMORY_ROWS_SEGMENT_H_
#define RESMEM_MEMORY_ROWS_SEGMENT_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "format/container_reader.h"
#include "memory/manifest/manifest.h"
#include "memory/rows/layout.h"
#include "resmem/residual_memory.h"
#include "search/key_check.h"

namespace resmem {

class Segment : public KeyCheck {
 public:
  // Checks the header, agreement with the manifest, labels and source offsets.  A file that is
  // not there is kNotFound.
  static Result<Segment> Open(FileSystem& files, const std::string& folder,
                              const MemoryDescription& description, const FileRecord& record);

  int64_t rows() const { return rows_; }
  const ContainerReader& file() const { return file_; }
  const SegmentLayout& layout() const { return layout_; }

  // Refers to this segment, which must stay where it is.
  KeyBlock keys() const;
  void RequireKeys(int64_t begin, int64_t count) const override;
  // Before what Residual() needs of a row is read.
  void RequireResidual(int64_t row) const {
    if (!file_.checked()) RequireResidualBlocks(row);
  }
  void DecodeKey(int64_t row, float* key) const;
  // What a unit key was divided by; 1 of others.
  float key_norm(int64_t row) const {
    if (key_norms_ == nullptr) return 1;
    RequireRow(layout_.key_norms, row);
    return key_norms_[row];
  }
  uint64_t id(int64_t row) const { return ids_ != nullptr ? ids_[row] : IdInRun(row); }
  int32_t label(int64_t row) const { return labels_ != nullptr ? labels_[row] : NarrowLabel(row); }
  // Not of packed ones.
  const int32_t* label_place(int64_t row) const { return labels_ + row; }
  const float* target(int64_t row) const {
    RequireRow(layout_.targets, row);
    return targets_ + row * outputs_;
  }
  const float* logits(int64_t row) const {
    RequireRow(layout_.logits, row);
    return logits_ + row * outputs_;
  }
  std::string_view source(int64_t row) const { return sources_.at(row); }
  std::string_view tags(int64_t row) const { return tags_.at(row); }
  bool has_tags() const { return tags_.offsets != nullptr; }

  // See ResidualMemory.
  void Residual(int64_t row, float temperature, float* out) const;
  void AddResidual(int64_t row, float temperature, float weight, float* scratch,
                   float* accumulator) const;
  // Sparse and packed: AddResidual() of up to kMostTogether rows of segments of one memory, by
  // AddEntries() of memory/residuals/row_sums.h.
  static constexpr size_t kMostTogether = 64;
  using Place = std::pair<const Segment*, int64_t>;  // a segment and a row in it
  static int64_t AddEntriesOf(std::span<const Place> rows, const float* weights, float* sum,
                              uint32_t* touched);
  // Where a row's answer lies, for those who have called RequireResidual(): of the logits form, and
  // of the dense one, whose values are halves or not by the description.
  const float* logits_place(int64_t row) const { return logits_ + row * outputs_; }
  const float* residuals_place(int64_t row) const { return residuals_ + row * outputs_; }
  const uint16_t* half_residuals_place(int64_t row) const {
    return half_residuals_ + row * outputs_;
  }
  bool checked() const { return file_.checked(); }
  // Sparse and packed: the classes of a row and their residuals, at most `top`; returns how many.
  int64_t Entries(int64_t row, int32_t* classes, float* values) const;
  // Packed only: the bytes of a row's entries.
  std::span<const std::byte> PackedEntries(int64_t row) const;
  uint8_t packed_count(int64_t row) const { return counts_[row]; }
  uint16_t packed_dropped(int64_t row) const { return packed_dropped_[row]; }
  // int4 keys only; the same in all segments of a memory.
  std::span<const float> key_center() const { return {key_center_, static_cast<size_t>(dim_)}; }
  // Sparse and packed: lets the processor fetch what AddEntriesOf() will read of this row.
  void PrefetchEntries(int64_t row) const;
  // Sum of |r| that is stored, and that the sparse or packed form dropped.  `scratch`: `outputs`
  // floats.
  struct Mass {
    double kept = 0, dropped = 0;
    double dropped_share() const { return dropped > 0 ? dropped / (kept + dropped) : 0; }
  };
  Mass ResidualMass(int64_t row, float temperature, float* scratch) const;

  // Checks at once what is small and has no check of its own: ids, labels, scales, sources.
  Status VerifyNarrow() const;
  // The checksums of ids alone.
  Status VerifyIds() const {
    return file_.VerifySection(ids_ != nullptr ? layout_.ids : layout_.id_runs);
  }
  // What no checksum can tell: the ranges of ids, int8 keys, scales, norms, sparse classes and
  // dropped mass.
  Status VerifyValues(uint64_t next_id) const;

 private:
  void RequireRow(size_t section, int64_t row) const {
    if (!file_.checked()) RequireRows(section, row, 1);
  }
  void RequireRows(size_t section, int64_t begin, int64_t count) const;
  void RequireResidualBlocks(int64_t row) const;
  Segment(ContainerReader file, const MemoryDescription& description, const SegmentSizes& sizes,
          int64_t rows);
  Status CheckLabels() const;
  Status CheckIdRuns() const;
  Status CheckCenter() const;
  Status CheckEntries() const;
  Status VerifyPackedValues() const;
  int32_t NarrowLabel(int64_t row) const;
  uint64_t IdInRun(int64_t row) const;
  uint32_t PackedClass(const std::byte* entries, int64_t i) const;
  static int64_t AddPackedOf(std::span<const Place> rows, const float* weights, float* sum,
                             uint32_t* touched);
  // Texts one after the other; none without offsets.
  struct Texts {
    const uint64_t* offsets = nullptr;
    const char* bytes = nullptr;

    std::string_view at(int64_t row) const;
  };
  Status CheckTexts(const Texts& texts, size_t bytes_section, const char* what) const;
  uint32_t residual_class(int64_t entry) const {
    return narrow_classes_ != nullptr ? narrow_classes_[entry] : wide_classes_[entry];
  }
  // The stored residual values [begin, begin + count), decoded into `scratch` where they are f16.
  const float* residual_values(int64_t begin, int64_t count, float* scratch) const;

  ContainerReader file_;
  SegmentLayout layout_;
  int64_t rows_ = 0, dim_ = 0, outputs_ = 0, top_ = 0;
  KeyType key_type_ = KeyType::kFloat32;
  ResidualForm form_ = ResidualForm::kLogits;
  // Into the map; null where the section is absent.
  const std::byte* keys_ = nullptr;
  const float* key_center_ = nullptr;
  const float* key_scales_ = nullptr;
  const float* key_norms_ = nullptr;
  const uint64_t* ids_ = nullptr;
  const uint64_t* id_runs_ = nullptr;  // pairs: first row, its id
  const int32_t* labels_ = nullptr;
  const uint8_t* byte_labels_ = nullptr;
  const uint16_t* short_labels_ = nullptr;
  const float* targets_ = nullptr;
  const float* logits_ = nullptr;
  const float* residuals_ = nullptr;
  const uint16_t* half_residuals_ = nullptr;
  const uint16_t* narrow_classes_ = nullptr;
  const uint32_t* wide_classes_ = nullptr;
  const float* dropped_ = nullptr;
  const uint8_t* counts_ = nullptr;
  const uint64_t* starts_ = nullptr;
  const uint16_t* packed_dropped_ = nullptr;
  const std::byte* entries_ = nullptr;
  Texts sources_, tags_;
};

}  // namespace resmem

#endif  // RESMEM_MEMORY_ROWS_SEGMENT_H_
