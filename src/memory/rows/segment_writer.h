// Writes the rows of one segment file, holding only a few blocks of it in memory.
#ifndef RESMEM_MEMORY_ROWS_SEGMENT_WRITER_H_
#define RESMEM_MEMORY_ROWS_SEGMENT_WRITER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/container_writer.h"
#include "memory/manifest/manifest.h"
#include "memory/residuals/residual_encoder.h"
#include "memory/rows/key_encoder.h"
#include "memory/rows/layout.h"

namespace resmem {

// Texts of rows into two sections: their ends, and their bytes.
class TextAppender {
 public:
  TextAppender(size_t offsets, size_t bytes) : offsets_(offsets), bytes_(bytes) {}

  // Nothing where the layout has no such sections.
  Status Begin(ContainerWriter* writer);
  Status Append(std::string_view text, ContainerWriter* writer);

 private:
  size_t offsets_, bytes_;
  uint64_t end_ = 0;
};

class SegmentWriter {
 public:
  // `rows` at least 1; `description` is sound; `tags`: with a place for tags.  `key_center`: as
  // KeyEncoder's.
  static Result<std::unique_ptr<SegmentWriter>> Create(FileSystem& files, const std::string& folder,
                                                       const std::string& name,
                                                       const MemoryDescription& description,
                                                       int64_t rows, bool tags,
                                                       std::vector<float> key_center = {});

  // `rows` passed CheckRows(), their keys are as they are stored; `ids` has one for each, and so
  // has `norms` where keys are of unit length.  After an error the segment is lost.
  Status Add(const Rows& rows, std::span<const uint64_t> ids, std::span<const float> norms = {});

  // Requires all rows to have been added.
  Result<FileRecord> Finish();

  Segment::Mass mass() const { return encoder_.mass(); }

 private:
  SegmentWriter(const MemoryDescription& description, SegmentLayout layout, std::string name,
                int64_t rows, ContainerWriter writer, std::vector<float> key_center);
  Status AddResiduals(const Rows& rows);

  MemoryDescription description_;
  SegmentLayout layout_;
  std::string name_;
  int64_t rows_;
  ContainerWriter writer_;
  KeyEncoder keys_;
  ResidualEncoder encoder_;
  TextAppender sources_, tags_;
};

// In the type that the layout has for them.
Status AppendLabels(const SegmentLayout& layout, std::span<const int32_t> labels,
                    ContainerWriter* writer);

}  // namespace resmem

#endif  // RESMEM_MEMORY_ROWS_SEGMENT_WRITER_H_
