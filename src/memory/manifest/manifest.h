// The manifest of a memory: its description and the files that count.
// docs/memory_format.md, section 5.
#ifndef RESMEM_MEMORY_MANIFEST_MANIFEST_H_
#define RESMEM_MEMORY_MANIFEST_MANIFEST_H_

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "resmem/residual_memory.h"
#include "resmem_program/edit_stream.h"
#include "search/approximate/search_effort.h"
#include "support/file_system.h"

namespace resmem {

// A file that the manifest names.  The header's hash depends on every byte of it.
struct FileRecord {
  std::string file;
  int64_t rows = 0;
  int64_t bytes = 0;
  uint64_t header_hash = 0;

  bool SameBytes(const FileRecord& other) const {
    return header_hash == other.header_hash && bytes == other.bytes && rows == other.rows;
  }
};

// An inverted file over whole segments, and how it is searched.
struct IndexPart {
  FileRecord file;                      // rows: those of the segments
  std::vector<MeasuredEffort> efforts;  // by k, ascending to kMostNeighbors
};

// Why the rows after the last part are not in one.
struct IndexObstacle {
  int64_t rows = 0;  // so many there were when it was tried last
  std::string why;
  std::vector<uint64_t> ids{};  // of the rows to delete, where that would help
};

// Parts cover the segments in order, from the first; the last segments may be in none.
struct IndexRecord {
  double recall = 0;  // as asked
  uint64_t seed = 0;
  int code_bits = 8;                  // a value; or 4 or 2
  std::optional<FileRecord> queries;  // that all efforts were chosen on; none: rows of the parts
  std::vector<IndexPart> parts;
  std::optional<IndexObstacle> obstacle{};

  int64_t rows() const;
};

// An append that a client named, so that a repetition is known.
struct AppendToken {
  std::string token;
  int64_t rows = 0;  // that it added
};

// The rows with their keys as they were before they were transformed; deletions are the memory's.
struct FormerKeys {
  KeyTransform key_transform = KeyTransform::kNone;
  std::vector<FileRecord> segments;
  std::optional<FileRecord> transform;
  std::optional<IndexRecord> index;
};

// What makes a memory's folder a snapshot of another: nothing changes it any more.
struct SnapshotRecord {
  std::string name, created, note;
};

struct Manifest {
  MemoryDescription description;
  int64_t generation = 0;
  uint64_t next_id = 0;  // larger than every id that was ever in the memory
  std::vector<FileRecord> segments;
  std::optional<FileRecord> deletions;
  std::optional<IndexRecord> index;
  std::optional<FileRecord> transform;     // of whitened keys; its rows are dim
  std::optional<FormerKeys> former;        // counts as long as rows do not change
  std::vector<AppendToken> append_tokens;  // the latest, the oldest of them first
  std::optional<SnapshotRecord> snapshot;
  std::optional<StreamPosition> stream;  // of edits that the rows follow
  int64_t bytes = 0;                     // of the manifest's own file; set by ReadManifest()

  int64_t stored_rows() const;
  // Of every file but its own and former ones.
  std::vector<const FileRecord*> records() const;
  // Of every file that counts, with its own.
  std::unordered_set<std::string> names() const;
  // Inlined, it makes g++ 12 warn of an index that is not there.
  void ForgetIndex();
  // Of the files that only `former` names.
  int64_t former_bytes() const;
  // The memory with its former keys; requires them.
  Manifest WithFormerKeys() const;
};

// A file that a manifest names, and how names of its kind begin.
struct NamedFile {
  FileRecord* record;
  const char* prefix;
};
// Every file but former ones.
std::vector<NamedFile> NamedFiles(Manifest* manifest);

inline constexpr uint64_t kLargestId = INT64_MAX;
inline constexpr size_t kMostTokens = 1000, kLongestToken = 200;

// kUnsupported where the rows follow a stream of edits: a change of its own would make them differ
// from those of others who follow it.
Status CheckOwnRows(const std::string& path, const Manifest& manifest);

// kInvalidArgument unless it is text of 1 to kLongestToken bytes without control characters.
Status CheckToken(const std::string& token);

// Errors: kNotFound, kCorrupt, kTooNew, kUnsupported, kIo.
Result<Manifest> ReadManifest(FileSystem& files, const std::string& folder);

// Replaces the manifest atomically.  kInvalidArgument where a text is not UTF-8.  `*replaced` is
// set as soon as the new one is in place, whatever fails after that.
Status WriteManifest(FileSystem& files, const std::string& folder, const Manifest& manifest,
                     bool* replaced = nullptr);

}  // namespace resmem

#endif  // RESMEM_MEMORY_MANIFEST_MANIFEST_H_
