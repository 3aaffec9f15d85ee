// The sections of a segment: docs/memory_format.md, section 3.  Writer and reader both ask
// here, so that a table that differs from the description is found by comparison.
#ifndef RESMEM_MEMORY_ROWS_LAYOUT_H_
#define RESMEM_MEMORY_ROWS_LAYOUT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "format/format.h"
#include "resmem/residual_memory.h"

namespace resmem {

// What does not follow from the description and the number of rows.
struct SegmentSizes {
  int64_t source_bytes = 0;  // of all source texts together, or ContainerWriter::kAsAppended
  int64_t entries = 0;       // of packed residuals, or ContainerWriter::kAsAppended
  int64_t id_runs = 0;       // of a packed segment; 0: the ids as such
  // Of all tags together, or ContainerWriter::kAsAppended; empty: the segment has none.
  std::optional<int64_t> tag_bytes{};
};

struct SegmentLayout {
  static constexpr size_t kAbsent = SIZE_MAX;

  SegmentLayout(const MemoryDescription& description, int64_t rows, const SegmentSizes& sizes);

  std::vector<SectionShape> sections;
  // Positions in `sections`.
  size_t keys = kAbsent, key_center = kAbsent, key_scales = kAbsent, key_norms = kAbsent,
         ids = kAbsent, id_runs = kAbsent, labels = kAbsent, targets = kAbsent, logits = kAbsent,
         residuals = kAbsent, top_classes = kAbsent, top_values = kAbsent, dropped = kAbsent,
         counts = kAbsent, starts = kAbsent, packed_dropped = kAbsent, source_offsets = kAbsent,
         entries = kAbsent, source_bytes = kAbsent, tag_offsets = kAbsent, tag_bytes = kAbsent;
};

inline constexpr char kSourceBytesName[] = "source_bytes", kEntriesName[] = "entries",
                      kIdRunsName[] = "id_runs", kTagBytesName[] = "tag_bytes";

}  // namespace resmem

#endif  // RESMEM_MEMORY_ROWS_LAYOUT_H_
