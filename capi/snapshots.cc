// Named states of the memory that a handle holds.
#include "resmem/snapshots.h"
#include "capi/handle.h"

using namespace resmem;        // NOLINT: this file is a border, with names of both sides
using namespace resmem::capi;  // NOLINT

namespace {

Status CheckName(const resmem_memory* memory, const char* name) {
  if (memory == nullptr) return Invalid("the memory is NULL");
  if (name == nullptr) return Invalid("the snapshot's name is NULL");
  return {};
}

}  // namespace

int resmem_snapshot_take(resmem_memory* memory, const char* name, const char* note) {
  return Guarded([&]() -> Status {
    RESMEM_RETURN_IF_ERROR(CheckName(memory, name));
    const std::lock_guard<std::mutex> lock(memory->changing);
    SnapshotOptions options;
    options.change = Waiting(memory);
    if (note != nullptr) options.note = note;
    return TakeSnapshot(memory->path, name, options);
  });
}

int resmem_snapshot_drop(resmem_memory* memory, const char* name) {
  return Guarded([&]() -> Status {
    RESMEM_RETURN_IF_ERROR(CheckName(memory, name));
    const std::lock_guard<std::mutex> lock(memory->changing);
    return DropSnapshot(memory->path, name, Waiting(memory));
  });
}

int resmem_rollback(resmem_memory* memory, const char* name, const resmem_watch* watch) {
  return Guarded([&]() -> Status {
    RESMEM_RETURN_IF_ERROR(CheckName(memory, name));
    Watch progress(watch);
    ChangeOptions options = Waiting(memory);
    options.progress = &progress;
    return Change(memory, [&] { return RollBack(memory->path, name, options); });
  });
}

int resmem_diff(resmem_memory* memory, const char* before, const char* after, char** json) {
  return Guarded([&]() -> Status {
    RESMEM_RETURN_IF_ERROR(CheckName(memory, before));
    if (json == nullptr) return Invalid("the place for the answer is NULL");
    const OpenOptions fast{.verify_blocks = false, .exact = true};
    const std::string before_path = SnapshotPath(memory->path, before);
    const std::string after_path =
        after == nullptr ? memory->path : SnapshotPath(memory->path, after);
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory then, ResidualMemory::Open(before_path, fast));
    RESMEM_ASSIGN_OR_RETURN(const ResidualMemory now, ResidualMemory::Open(after_path, fast));
    RESMEM_ASSIGN_OR_RETURN(const MemoryDifference difference, CompareMemories(then, now));
    const auto state = CurrentState(memory);
    const RunInfo run = DescribeCall("diff", *memory, *state);
    return GiveText(DifferenceJson(before_path, after_path, difference, run), json);
  });
}

int resmem_find_in_snapshots(resmem_memory* memory, const uint64_t* ids, int64_t count,
                             char** lines) {
  return Guarded([&]() -> Status {
    if (memory == nullptr) return Invalid("the memory is NULL");
    if (lines == nullptr) return Invalid("the place for the answer is NULL");
    if (count < 0 || (ids == nullptr && count > 0)) return Invalid("ids is NULL or negative");
    RESMEM_ASSIGN_OR_RETURN(const std::vector<SnapshotRows> found,
                            FindInSnapshots(memory->path, {ids, static_cast<size_t>(count)}));
    std::string text;
    for (const SnapshotRows& rows : found) {
      text += (text.empty() ? "" : "\n") + rows.name + ":";
      for (size_t i = 0; i < rows.ids.size(); ++i) {
        text += (i == 0 ? " " : ", ") + std::to_string(rows.ids[i]);
      }
    }
    return GiveText(text, lines);
  });
}
