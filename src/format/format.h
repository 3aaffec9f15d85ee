// The container that every file of ours is made of: docs/memory_format.md, section 2.
// Change that page first; version 1 must open for ever.
#ifndef RESMEM_FORMAT_FORMAT_H_
#define RESMEM_FORMAT_FORMAT_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

namespace resmem {

static_assert(std::endian::native == std::endian::little, "mapped files are little-endian");

enum class FileKind : uint32_t {
  kManifest = 1,
  kSegment = 2,
  kDeletions = 3,
  kBaseModel = 4,
  kCheckpoint = 5,
  kTokenSet = 6,
  kIndex = 7,
  kQueries = 8,
  kTransform = 9,
  kAnswers = 10,
};
const char* FileKindName(FileKind kind);

enum class StoredType : uint32_t {
  kU8 = 1,
  kI8 = 2,
  kU16 = 3,
  kI32 = 4,
  kU32 = 5,
  kU64 = 6,
  kF16 = 7,
  kF32 = 8,
};
int64_t StoredBytes(StoredType type);  // 0: no such type
const char* StoredTypeName(StoredType type);

struct FileHeader {
  char magic[8];
  uint32_t version;
  uint32_t kind;
  uint32_t header_bytes;
  uint32_t section_count;
  uint64_t file_bytes;
  uint64_t checksums_hash;
  uint64_t zero[2];
  uint64_t header_hash;
};

struct SectionEntry {
  char name[16];
  uint32_t type;
  uint32_t zero_a;
  uint64_t rows;
  uint64_t columns;
  uint64_t offset;
  uint64_t bytes;
  uint64_t zero_b;
};

inline constexpr char kMagic[8] = {'R', 'E', 'S', 'M', 'E', 'M', '\r', '\n'};
inline constexpr uint32_t kFormatVersion = 1;
inline constexpr int64_t kHeaderBytes = 64;
inline constexpr int64_t kEntryBytes = 64;
inline constexpr int64_t kAlignment = 64;
inline constexpr int64_t kMaxSections = 64;
inline constexpr int64_t kBlockBytes = int64_t{1} << 20;
inline constexpr char kChecksumsName[] = "checksums";

static_assert(sizeof(FileHeader) == kHeaderBytes);
static_assert(sizeof(SectionEntry) == kEntryBytes);

// What a section holds, before it has a place in a file.
struct SectionShape {
  std::string name;
  StoredType type = StoredType::kU8;
  int64_t rows = 0;
  int64_t columns = 1;

  bool operator==(const SectionShape&) const = default;
};

inline int64_t AlignUp(int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}
inline int64_t BlocksOf(int64_t extent_bytes) {
  return (extent_bytes + kBlockBytes - 1) / kBlockBytes;
}

}  // namespace resmem

#endif  // RESMEM_FORMAT_FORMAT_H_
