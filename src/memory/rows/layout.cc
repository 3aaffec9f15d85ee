#include "memory/rows/layout.h"

#include <utility>

#include "kernels/int4_keys.h"
#include "memory/residuals/packed_residuals.h"
#include "support/checked_math.h"

namespace resmem {

SegmentLayout::SegmentLayout(const MemoryDescription& description, int64_t rows,
                             const SegmentSizes& sizes) {
  auto add = [&](const char* name, StoredType type, int64_t count, int64_t columns) {
    sections.push_back({name, type, count, columns});
    return sections.size() - 1;
  };
  const StoredType residual_type = description.half_residuals ? StoredType::kF16 : StoredType::kF32;
  const bool classification = description.task == Task::kClassification;

  switch (description.key_type) {
    case KeyType::kFloat32:
      keys = add("keys", StoredType::kF32, rows, description.dim);
      break;
    case KeyType::kFloat16:
      keys = add("keys", StoredType::kF16, rows, description.dim);
      break;
    case KeyType::kInt8:
      keys = add("keys", StoredType::kI8, rows, description.dim);
      key_scales = add("key_scales", StoredType::kF32, rows, 1);
      break;
    case KeyType::kInt4:
      keys = add("keys", StoredType::kU8, rows, Int4Bytes(description.dim));
      key_center = add("key_center", StoredType::kF32, 1, description.dim);
      key_scales = add("key_scales", StoredType::kF32, rows, 1);
      break;
  }
  if (description.key_transform == KeyTransform::kUnit) {
    key_norms = add("key_norms", StoredType::kF32, rows, 1);
  }
  const bool packed = description.form == ResidualForm::kPacked;
  const int64_t class_bytes = PackedClassBytes(description.outputs);
  if (packed && sizes.id_runs > 0) {
    id_runs = add(kIdRunsName, StoredType::kU64, sizes.id_runs, 2);
  } else {
    ids = add("ids", StoredType::kU64, rows, 1);
  }
  const StoredType narrow = class_bytes == 1   ? StoredType::kU8
                            : class_bytes == 2 ? StoredType::kU16
                                               : StoredType::kI32;
  if (classification) labels = add("labels", packed ? narrow : StoredType::kI32, rows, 1);
  if (!classification) targets = add("targets", StoredType::kF32, rows, description.outputs);
  switch (description.form) {
    case ResidualForm::kLogits:
      logits = add("logits", StoredType::kF32, rows, description.outputs);
      break;
    case ResidualForm::kDense:
      residuals = add("residuals", residual_type, rows, description.outputs);
      break;
    case ResidualForm::kSparse:
      top_classes =
          add("top_classes", description.outputs <= 65536 ? StoredType::kU16 : StoredType::kU32,
              rows, description.top);
      top_values = add("top_values", residual_type, rows, description.top);
      dropped = add("dropped", StoredType::kF32, rows, 1);
      break;
    case ResidualForm::kPacked:
      counts = add("counts", StoredType::kU8, rows, 1);
      starts = add("starts", StoredType::kU64,
                   rows / kRowsOfAStart + (rows % kRowsOfAStart > 0 ? 1 : 0), 1);
      packed_dropped = add("packed_dropped", StoredType::kF16, rows, 1);
      break;
  }
  // No file has INT64_MAX rows: the sections before these differ, or cannot be made.
  const int64_t offsets = CheckedAdd(rows, 1).value_or(rows);
  if (description.has_sources) source_offsets = add("source_offsets", StoredType::kU64, offsets, 1);
  if (sizes.tag_bytes) tag_offsets = add("tag_offsets", StoredType::kU64, offsets, 1);
  if (packed) entries = add(kEntriesName, StoredType::kU8, sizes.entries, class_bytes + 1);
  if (description.has_sources) {
    source_bytes = add(kSourceBytesName, StoredType::kU8, sizes.source_bytes, 1);
  }
  if (sizes.tag_bytes) tag_bytes = add(kTagBytesName, StoredType::kU8, *sizes.tag_bytes, 1);
}

}  // namespace resmem
