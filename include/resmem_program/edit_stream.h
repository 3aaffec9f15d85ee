// A memory whose rows follow a stream of edits that others follow, too: replicas of a shard, say
// (docs/cluster.md).  The manifest says up to which edit the rows are, and changes with the rows at
// once, so that after any crash each edit is in the memory exactly once.
#ifndef RESMEM_PROGRAM_EDIT_STREAM_H_
#define RESMEM_PROGRAM_EDIT_STREAM_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "resmem/residual_memory.h"

namespace resmem {

// An edit that a client named, so that a repetition is known.
struct NamedEdit {
  static constexpr size_t kMostBytes = 200;  // of a token

  std::string token;
  int64_t sequence = 0;
};

struct StreamPosition {
  static constexpr size_t kMostNames = 1000;

  std::string stream;
  int64_t created = 0;            // the stream; tells it from a later one of the same name
  int64_t sequence = 0;           // of the latest edit that is in the rows
  std::string seed;               // ContentHash() of the rows before the first edit
  int64_t shard = 1, shards = 1;  // which part of the new rows is this memory's
  std::vector<NamedEdit> named;   // the latest, the oldest of them first
};

// None where the memory follows no stream.
std::optional<StreamPosition> PositionOf(const ResidualMemory& memory);

struct StreamedEdits {
  Rows learn{};                      // with ids
  std::span<const uint64_t> forget;  // also of rows that are learned again, under the same id
  StreamPosition position{};         // that the memory has afterwards
};
// One change on disk, made whole or not at all.  `from`: the sequence that the memory must have
// now, unless it has no position yet; otherwise kMismatch.  Other errors: kNotFound (no living row
// has an id of `forget`), and those of MemoryWriter::Append().
Status ApplyEdits(const std::string& path, int64_t from, const StreamedEdits& edits,
                  const ChangeOptions& options = {});

// From now on the memory is changed as any other.  kNotFound where it follows no stream.
Status LeaveStream(const std::string& path, const ChangeOptions& options = {});

}  // namespace resmem

#endif  // RESMEM_PROGRAM_EDIT_STREAM_H_
