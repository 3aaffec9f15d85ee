// An inverted file over some rows of a memory, mapped: docs/memory_format.md, section 9.
//
// Rows are numbered from 0 here.  Each lies in one list, the one whose centroid is nearest by
// code; its code is relative to that centroid.  Codes of 4 bits a value are packed, two in a byte,
// those of 2 bits stored as words for pairs of 8-bit codes: whoever scans a list sees 8 bits. Const
// methods may be called from any thread.
#ifndef RESMEM_SEARCH_APPROXIMATE_LISTS_INVERTED_FILE_H_
#define RESMEM_SEARCH_APPROXIMATE_LISTS_INVERTED_FILE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "format/container_reader.h"
#include "resmem/progress.h"
#include "search/approximate/codes/list_scan_kernel.h"
#include "search/approximate/lists/centroids.h"

namespace resmem {

// Of the sections, in the order of the file.
struct InvertedLayout {
  InvertedLayout(int64_t dim, int64_t lists, int64_t blocks, int code_bits);
  enum : size_t { kCenter, kCentroids, kListRows, kRows, kScales, kNorms, kCodes, kTables };
  std::vector<SectionShape> sections;
};

// Of a row with codes of 2, 4 or 8 bits a value.
int64_t BytesOfCodes(int64_t dim, int code_bits);

// Rows of one file at most: their numbers and places have 32 bits.
constexpr int64_t kMostListedRows = int64_t{1} << 31;

// Copies share the map.
class InvertedFile {
 public:
  // Of `rows` rows of `dim` values.  Checks sizes; row numbers by Verify() only, so that whoever
  // uses one compares it with rows() first.
  static Result<InvertedFile> Open(ContainerReader file, int64_t dim, int64_t rows);

  const ContainerReader& file() const { return file_; }
  int64_t rows() const { return rows_; }
  int64_t lists() const { return static_cast<int64_t>(first_blocks_.size()) - 1; }
  int code_bits() const { return static_cast<int>(8 * row_bytes_ / width_); }
  int64_t width() const { return width_; }
  const Centroids& centroids() const { return *centroids_; }

  int64_t list_rows(int64_t list) const { return list_rows_[list]; }
  // Rows [row, row + count) of a list, `row` the first of a block, to be scanned for so many
  // queries.  What cannot be scanned as it lies is decoded to `scratch`, which has room for width()
  // bytes a row of whole blocks.
  CodeBlocks Blocks(int64_t list, int64_t row, int64_t count, int64_t queries,
                    uint8_t* scratch) const;
  // Asks for the start of a list, which arrives while another is scanned.
  void Prefetch(int64_t list) const;
  const uint32_t* row_numbers(int64_t list) const;  // ascending, list_rows(list) of them

  // Every checksum; that each row is in at most one list and lists ascend.
  Status Verify(Progress* progress) const;

 private:
  // Blocks are checked when they are first read.  Throws StatusError.
  void Require(size_t section, int64_t begin, int64_t size) const;
  InvertedFile(ContainerReader file, int64_t dim, int64_t rows, int code_bits);

  ContainerReader file_;
  int64_t rows_, width_, row_bytes_;
  const uint32_t* list_rows_ = nullptr;
  std::vector<int64_t> first_blocks_;  // of each list, and the end
  std::shared_ptr<const Centroids> centroids_;
};

}  // namespace resmem

#endif  // RESMEM_SEARCH_APPROXIMATE_LISTS_INVERTED_FILE_H_
