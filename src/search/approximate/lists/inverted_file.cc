#include "search/approximate/lists/inverted_file.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/prefetch.h"
#include "kernels/squared_distance.h"
#include "search/approximate/codes/coded_vectors.h"
#include "search/approximate/codes/half_bytes.h"
#include "search/approximate/codes/pair_words.h"
#include "search/approximate/lists/k_means.h"
#include "support/guard.h"
#include "support/text.h"

namespace resmem {

int64_t BytesOfCodes(int64_t dim, int code_bits) {
  const int64_t width = CodeWidth(dim);
  return code_bits == 8 ? width : code_bits == 4 ? HalfBytes(width) : WordBytes(width);
}

namespace {

constexpr int64_t kNumberBytes = 4;  // of a row's number, scale or norm

constexpr const char* kNameOf8Bits = "codes";
constexpr const char* kNameOf4Bits = "packed";
constexpr const char* kNameOf2Bits = "words";

const char* NameOfCodes(int code_bits) {
  return code_bits == 8 ? kNameOf8Bits : code_bits == 4 ? kNameOf4Bits : kNameOf2Bits;
}

}  // namespace

InvertedLayout::InvertedLayout(int64_t dim, int64_t lists, int64_t blocks, int code_bits)
    : sections{{"center", StoredType::kF32, 1, dim},
               {"centroids", StoredType::kF32, lists, dim},
               {"list_rows", StoredType::kU32, lists, 1},
               {"rows", StoredType::kU32, blocks, kBlockRows},
               {"scales", StoredType::kF32, blocks, kBlockRows},
               {"norms", StoredType::kF32, blocks, kBlockRows},
               {NameOfCodes(code_bits), StoredType::kU8, blocks,
                kBlockRows * BytesOfCodes(dim, code_bits)}} {
  if (code_bits == 2) sections.push_back({"tables", StoredType::kU8, CodeWidth(dim), kWords});
}

InvertedFile::InvertedFile(ContainerReader file, int64_t dim, int64_t rows, int code_bits)
    : file_(std::move(file)),
      rows_(rows),
      width_(CodeWidth(dim)),
      row_bytes_(BytesOfCodes(dim, code_bits)),
      list_rows_(file_.Values<uint32_t>(InvertedLayout::kListRows).data()) {
  const int64_t lists = file_.sections()[InvertedLayout::kListRows].shape.rows;
  first_blocks_ = {0};
  for (int64_t list = 0; list < lists; ++list) {
    first_blocks_.push_back(first_blocks_.back() + BlocksOfRows(list_rows_[list]));
  }
}

Result<InvertedFile> InvertedFile::Open(ContainerReader file, int64_t dim, int64_t rows) {
  const auto& sections = file.sections();
  if (sections.size() <= InvertedLayout::kCodes) {
    return file.Corrupt(
        Text("has ", sections.size(), " sections, expected ", InvertedLayout::kCodes + 1));
  }
  const int64_t lists = sections[InvertedLayout::kListRows].shape.rows;
  const int64_t blocks = sections[InvertedLayout::kRows].shape.rows;
  if (dim < 1 || dim > kMostCodes || rows < 1 || rows > kMostListedRows || lists < 1 ||
      lists > rows || blocks > rows) {
    return file.Corrupt(Text("claims ", lists, " lists in ", blocks, " blocks for ", rows,
                             " rows of ", dim, " values"));
  }
  const std::string& codes = sections[InvertedLayout::kCodes].shape.name;
  const int code_bits = codes == kNameOf8Bits   ? 8
                        : codes == kNameOf4Bits ? 4
                        : codes == kNameOf2Bits ? 2
                                                : 0;
  if (code_bits == 0) {
    return Status(ErrorCode::kUnsupported,
                  Text(file.path(), ": holds \"", codes, "\" where this version knows \"",
                       kNameOf8Bits, "\", \"", kNameOf4Bits, "\" and \"", kNameOf2Bits, "\""));
  }
  RESMEM_RETURN_IF_ERROR(
      file.ExpectSections(InvertedLayout(dim, lists, blocks, code_bits).sections));
  // Small, and every answer depends on it.
  for (const size_t section :
       {InvertedLayout::kCenter, InvertedLayout::kCentroids, InvertedLayout::kListRows}) {
    RESMEM_RETURN_IF_ERROR(file.VerifySection(section));
  }
  if (code_bits == 2) RESMEM_RETURN_IF_ERROR(file.VerifySection(InvertedLayout::kTables));
  InvertedFile inverted(std::move(file), dim, rows, code_bits);
  int64_t listed = 0;  // each term has 32 bits, and there are at most 2^31
  for (int64_t list = 0; list < lists; ++list) listed += inverted.list_rows(list);
  if (listed > rows || inverted.first_blocks_.back() != blocks) {
    return inverted.file_.Corrupt(Text("its lists have ", listed, " rows in ",
                                       inverted.first_blocks_.back(), " blocks, expected at most ",
                                       rows, " in ", blocks));
  }
  const auto values = [&](size_t section) { return inverted.file_.Values<float>(section).data(); };
  // Farther ones have no place in a comparison of floats, and no query would ever meet them.  The
  // mean of keys that are not too far is not either, but it was rounded.
  constexpr double kFarthest = 2 * kLargestListedDistance;
  for (int64_t list = 0; list < lists; ++list) {
    const double squared = SquaredDistance(values(InvertedLayout::kCentroids) + list * dim,
                                           values(InvertedLayout::kCenter), dim);
    if (squared <= kFarthest * kFarthest) continue;
    return inverted.file_.Corrupt(Text("the centroid of list ", list, " lies ", std::sqrt(squared),
                                       " from the center, expected at most ", kFarthest));
  }
  inverted.centroids_ = std::make_unique<Centroids>(values(InvertedLayout::kCentroids), lists, dim,
                                                    values(InvertedLayout::kCenter));
  return inverted;
}

void InvertedFile::Require(size_t section, int64_t begin, int64_t size) const {
  try {
    file_.Require(section, begin, size);
  } catch (const StatusError& error) {
    throw StatusError({error.status().code(),
                       Text(error.status().message(), "; find out more with: resmem verify")});
  }
}

CodeBlocks InvertedFile::Blocks(int64_t list, int64_t row, int64_t count, int64_t queries,
                                uint8_t* scratch) const {
  const int64_t slot = first_blocks_[list] * kBlockRows + row;
  if (!file_.checked()) {
    const int64_t slots = BlocksOfRows(count) * kBlockRows;
    Require(InvertedLayout::kCodes, slot * row_bytes_, slots * row_bytes_);
    Require(InvertedLayout::kScales, slot * kNumberBytes, slots * kNumberBytes);
    Require(InvertedLayout::kNorms, slot * kNumberBytes, slots * kNumberBytes);
  }
  CodeBlocks blocks{file_.Values<uint8_t>(InvertedLayout::kCodes).data() + slot * row_bytes_,
                    file_.Values<float>(InvertedLayout::kScales).data() + slot,
                    file_.Values<float>(InvertedLayout::kNorms).data() + slot};
  if (code_bits() == 8) return blocks;
  blocks.packed = code_bits() == 4 && ScansHalfBytes(queries);
  if (blocks.packed) return blocks;
  if (code_bits() == 4) {
    UnpackHalfBytes(blocks.codes, BlocksOfRows(count), width_, scratch);
  } else {
    DecodeWords(blocks.codes, file_.Values<uint8_t>(InvertedLayout::kTables).data(),
                BlocksOfRows(count), width_, scratch);
  }
  blocks.codes = scratch;
  return blocks;
}

// The start of a list is far from the end of another.  The processor follows a longer list by
// itself.
void InvertedFile::Prefetch(int64_t list) const {
  constexpr int64_t kMostBytes = 8192, kMostRows = 128;
  const int64_t slot = first_blocks_[list] * kBlockRows, rows = list_rows(list);
  const uint8_t* codes = file_.Values<uint8_t>(InvertedLayout::kCodes).data() + slot * row_bytes_;
  const float* scales = file_.Values<float>(InvertedLayout::kScales).data() + slot;
  const float* norms = file_.Values<float>(InvertedLayout::kNorms).data() + slot;
  PrefetchLines(codes, std::min(kMostBytes, rows * row_bytes_));
  for (int64_t row = 0; row < std::min(kMostRows, rows); row += kBlockRows) {
    PrefetchLine(scales + row);
    PrefetchLine(norms + row);
  }
}

const uint32_t* InvertedFile::row_numbers(int64_t list) const {
  Require(InvertedLayout::kRows, first_blocks_[list] * kBlockRows * kNumberBytes,
          list_rows(list) * kNumberBytes);
  return file_.Values<uint32_t>(InvertedLayout::kRows).data() + first_blocks_[list] * kBlockRows;
}

Status InvertedFile::Verify(Progress* progress) const {
  RESMEM_RETURN_IF_ERROR(file_.VerifyBlocks(progress));
  std::vector<bool> seen(static_cast<size_t>(rows_));
  for (int64_t list = 0; list < lists(); ++list) {
    const uint32_t* numbers = row_numbers(list);
    for (int64_t i = 0; i < list_rows(list); ++i) {
      if (numbers[i] >= rows_ || seen[numbers[i]] || (i > 0 && numbers[i] <= numbers[i - 1])) {
        return file_.Corrupt(Text("list ", list, " holds row ", numbers[i], " at place ", i,
                                  "; numbers must ascend below ", rows_,
                                  " and be in one list only"));
      }
      seen[numbers[i]] = true;
    }
  }
  return {};
}

}  // namespace resmem
