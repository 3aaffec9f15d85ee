// Named states of a memory to come back to.
//
//   TakeSnapshot("m.resmem", "monday");      // before a change
//   RollBack("m.resmem", "monday");          // after one that was a mistake
//
// A snapshot is a folder m.resmem/snapshots/monday that is a memory itself: whatever opens a memory
// opens it, and nothing changes it.  Its files are second names (hard links) of the memory's, so it
// costs next to nothing until the memory is compacted; on a file system without links they are
// copies.  It is no backup: bytes that the disk loses are lost to both.
//
// Rows that are deleted from the memory live on in its snapshots: FindInSnapshots() tells which.
//
// A memory in RAM has none: kUnsupported.
#ifndef RESMEM_SNAPSHOTS_H_
#define RESMEM_SNAPSHOTS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "resmem/residual_memory.h"

namespace resmem {

// "m.resmem/snapshots/monday"
std::string SnapshotPath(const std::string& memory, const std::string& name);
// The memory whose snapshot lies at the path; "" where the path has another form.
std::string MemoryOfSnapshot(const std::string& path);

struct SnapshotOptions {
  std::string note{};  // for people
  ChangeOptions change{};
};
// The snapshot is there whole or not at all.  Of the files only the headers are read: ask
// ResidualMemory::Verify() of the snapshot for more.  Errors: kInvalidArgument (the name, or there
// is a snapshot of that name), kNotFound, kResourceExhausted, kIo.
Status TakeSnapshot(const std::string& path, const std::string& name,
                    const SnapshotOptions& options = {});

// With its name gone, its bytes are, too, but for those that the memory or another snapshot names.
// A broken one goes like any other.  kNotFound where there is none.
Status DropSnapshot(const std::string& path, const std::string& name,
                    const ChangeOptions& options = {});

// Makes the memory what it was: rows, parameters, index, notes, tokens of appends.  The snapshot
// stays, and so do its ids: rows that are appended later never get an id that was used before.
// Every checksum of the snapshot is compared first.  What the memory was is gone, unless a snapshot
// has it.
Status RollBack(const std::string& path, const std::string& name,
                const ChangeOptions& options = {});

struct SnapshotInfo {
  std::string name, note;
  std::string created;    // UTC, ISO 8601
  int64_t rows = 0;       // living ones
  int64_t bytes = 0;      // of its files
  int64_t own_bytes = 0;  // of these, in files that the memory no longer names
  std::string problem;    // why it cannot be read; then all but the name is empty
};
struct SnapshotList {
  std::vector<SnapshotInfo> snapshots;  // oldest first, ties by name; those with a problem last
  int64_t own_bytes = 0;                // of all together, each file once
};
Result<SnapshotList> ListSnapshots(const std::string& path);
// The same beside the state of a memory that is open, which was opened at the path.
Result<SnapshotList> ListSnapshots(const std::string& path, const ResidualMemory& memory);

// Which of these rows a snapshot holds.
struct SnapshotRows {
  std::string name;
  std::vector<uint64_t> ids;  // ascending
};
// Snapshots without any of them are left out; one that cannot be read is the error, since it may
// hold them.
Result<std::vector<SnapshotRows>> FindInSnapshots(const std::string& path,
                                                  std::span<const uint64_t> ids);

// What became of a memory, from one state to another.
struct MemoryDifference {
  struct Setting {
    std::string name, before, after;
  };
  struct ClassRows {
    int32_t label = 0;
    int64_t added = 0, removed = 0;
  };
  int64_t rows_before = 0, rows_after = 0;
  std::vector<uint64_t> added, removed;  // ids of living rows, ascending
  std::vector<uint64_t> changed;         // in both, but with another label, target, source or key
  std::vector<Setting> settings;         // parameters and the like that differ
  std::vector<ClassRows> classes;        // of rows that were added or removed; classification

  bool none() const {
    return added.empty() && removed.empty() && changed.empty() && settings.empty();
  }
};
// Of any two memories with keys and outputs of one size; kMismatch of others.  Keys are compared
// where both have the same key transform and type.
Result<MemoryDifference> CompareMemories(const ResidualMemory& before, const ResidualMemory& after);

}  // namespace resmem

#endif  // RESMEM_SNAPSHOTS_H_
