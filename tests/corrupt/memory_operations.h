// Every change that a memory knows, as a step from one state on disk to another.
#ifndef RESMEM_TESTS_CORRUPT_MEMORY_OPERATIONS_H_
#define RESMEM_TESTS_CORRUPT_MEMORY_OPERATIONS_H_

#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "fixtures/every_memory.h"
#include "memory/copy_memory.h"
#include "memory/memory_changes.h"
#include "memory/rows/row_writer.h"
#include "memory/snapshots/snapshots.h"
#include "resmem/residual_memory.h"

namespace resmem {

inline MemoryDescription OperationDescription() {
  MemoryDescription description;
  description.dim = 3;
  description.outputs = 4;
  description.has_sources = true;
  return description;
}

inline Status WriteRows(std::unique_ptr<RowWriter> writer, const RowData& data) {
  RESMEM_RETURN_IF_ERROR(writer->Add(data.view(writer->description())));
  return writer->Finish();
}

inline Status CreateRows(FileSystem& files, const std::string& path, uint64_t seed) {
  RESMEM_ASSIGN_OR_RETURN(
      auto writer, RowWriter::Create(files, path, OperationDescription(), 6, {.overwrite = true}));
  return WriteRows(std::move(writer), MakeRows(6, 3, 4, seed));
}

inline Status CreateIndexed(FileSystem& files, const std::string& path) {
  RESMEM_ASSIGN_OR_RETURN(auto writer,
                          RowWriter::Create(files, path, OperationDescription(), 6,
                                            {.overwrite = true, .index = IndexOptions()}));
  return WriteRows(std::move(writer), MakeRows(6, 3, 4, 1));
}

inline Status CreateWhitened(FileSystem& files, const std::string& path) {
  MemoryDescription description = OperationDescription();
  description.key_transform = KeyTransform::kWhiten;
  RESMEM_ASSIGN_OR_RETURN(auto writer,
                          RowWriter::Create(files, path, description, 6, {.overwrite = true}));
  return WriteRows(std::move(writer), MakeRows(6, 3, 4, 1));
}

inline Status ChangeKeysTo(FileSystem& files, const std::string& path, KeyTransform transform) {
  MemoryDescription description = OperationDescription();
  description.key_transform = transform;
  return UpdateDescription(files, path, description);
}

inline Status AppendRows(FileSystem& files, const std::string& path) {
  RESMEM_ASSIGN_OR_RETURN(auto writer, RowWriter::Append(files, path, 3));
  RowData data = MakeRows(3, 3, 4, 7);
  data.ids = {100, 102, 101};
  return WriteRows(std::move(writer), data);
}

inline Status DeleteAppended(FileSystem& files, const std::string& path) {
  const std::vector<uint64_t> ids = {102, 100, 101};
  return DeleteRows(files, path, ids);
}

// A memory of two segments and deleted rows, from RAM over whatever is there.
inline Status CopyOver(FileSystem& files, const std::string& path) {
  const RamFolder source;
  FileSystem& ram = FileSystem::Of(source.path());
  RESMEM_RETURN_IF_ERROR(CreateRows(ram, source.path(), 2));
  RESMEM_RETURN_IF_ERROR(AppendRows(ram, source.path()));
  const std::vector<uint64_t> ids = {102};
  RESMEM_RETURN_IF_ERROR(DeleteRows(ram, source.path(), ids));
  return CopyMemory(ram, source.path(), files, path, {.overwrite = true});
}

inline constexpr char kFormerKeys[] = "former keys";

struct Operation {
  std::string name;
  std::function<Status(const std::string& path)> prepare;  // the old state
  std::function<Status(FileSystem& files, const std::string& path)> run;
};

inline std::vector<Operation> EveryOperation() {
  FileSystem& real = FileSystem::Posix();
  const auto nothing = [](const std::string&) { return Status(); };
  const auto create = [&real](const std::string& path) { return CreateRows(real, path, 1); };
  // Two segments and deleted rows in both.
  const auto worn = [&real, create](const std::string& path) -> Status {
    RESMEM_RETURN_IF_ERROR(create(path));
    RESMEM_RETURN_IF_ERROR(AppendRows(real, path));
    const std::vector<uint64_t> ids = {8, 101};
    return DeleteRows(real, path, ids);
  };
  const auto delete_rows = [](FileSystem& files, const std::string& path) {
    const std::vector<uint64_t> ids = {13, 100};
    return DeleteRows(files, path, ids);
  };
  const auto update = [](FileSystem& files, const std::string& path) {
    MemoryDescription description = OperationDescription();
    description.parameters = {3, 0.5f, 2.0f};
    description.tuned = true;
    return UpdateDescription(files, path, description);
  };
  const auto compact = [](bool freeze) {
    return [freeze](FileSystem& files, const std::string& path) {
      CompactOptions options;
      options.freeze = freeze;
      return CompactMemory(files, path, options);
    };
  };
  const auto whiten = [](FileSystem& files, const std::string& path) {
    return ChangeKeysTo(files, path, KeyTransform::kWhiten);
  };
  const auto whitened = [&real, worn, whiten](const std::string& path) -> Status {
    RESMEM_RETURN_IF_ERROR(worn(path));
    return whiten(real, path);
  };
  return {
      {"create", nothing,
       [](FileSystem& files, const std::string& path) { return CreateRows(files, path, 1); }},
      {"create indexed", nothing, CreateIndexed},
      {"overwrite", worn,
       [](FileSystem& files, const std::string& path) { return CreateRows(files, path, 2); }},
      {"copy", nothing, CopyOver},
      {"copy over", worn, CopyOver},
      {"append", create, AppendRows},
      {"delete", worn, delete_rows},
      {"compact", worn, compact(false)},
      {"freeze", worn, compact(true)},
      {"update", create, update},
      {"create whitened", nothing, CreateWhitened},
      {"whiten", worn, whiten},
      {kFormerKeys, whitened,
       [](FileSystem& files, const std::string& path) {
         return ChangeKeysTo(files, path, KeyTransform::kNone);
       }},
  };
}

// Those that need a disk: a memory in RAM has no snapshots.
inline std::vector<Operation> SnapshotOperations() {
  FileSystem& real = FileSystem::Posix();
  const auto worn = [&real](const std::string& path) -> Status {
    RESMEM_RETURN_IF_ERROR(CreateRows(real, path, 1));
    RESMEM_RETURN_IF_ERROR(AppendRows(real, path));
    const std::vector<uint64_t> ids = {8, 101};
    return DeleteRows(real, path, ids);
  };
  const auto compacted = [&real, worn](const std::string& path) -> Status {
    RESMEM_RETURN_IF_ERROR(worn(path));
    RESMEM_RETURN_IF_ERROR(TakeSnapshot(real, path, "worn"));
    return CompactMemory(real, path, {});
  };
  return {
      {"take snapshot", worn,
       [](FileSystem& files, const std::string& path) { return TakeSnapshot(files, path, "new"); }},
      {"drop snapshot", compacted,
       [](FileSystem& files, const std::string& path) {
         return DropSnapshot(files, path, "worn");
       }},
      {"roll back", compacted,
       [](FileSystem& files, const std::string& path) { return RollBack(files, path, "worn"); }},
      {"delete under a snapshot", compacted,
       [](FileSystem& files, const std::string& path) {
         const std::vector<uint64_t> ids = {13};
         return DeleteRows(files, path, ids);
       }},
  };
}

inline std::vector<Operation> EveryOperationOnDisk() {
  std::vector<Operation> all = EveryOperation();
  for (Operation& operation : SnapshotOperations()) all.push_back(std::move(operation));
  return all;
}

// All that a memory answers from, living rows only; "no memory" where there is none, and the error
// where it does not open or verify.
inline std::string StateOf(const std::string& path) {
  const auto memory = ResidualMemory::Open(path);
  if (memory.status().code() == ErrorCode::kNotFound) return "no memory\n";
  if (!memory.ok()) return memory.status().message();
  const MemoryDescription& d = memory->description();
  std::ostringstream text;
  text << std::hexfloat << d.parameters.k << ' ' << d.parameters.sigma << ' '
       << d.parameters.temperature << ' ' << d.tuned << ' ' << ResidualFormName(d.form) << ' '
       << KeyTransformName(d.key_transform) << '\n';
  std::vector<float> key(static_cast<size_t>(d.dim)), residual(static_cast<size_t>(d.outputs));
  for (int64_t row = 0; row < memory->capacity(); ++row) {
    if (memory->deleted(row)) continue;
    memory->DecodeKey(row, key);
    memory->Residual(row, d.parameters.temperature, residual);
    text << memory->id(row) << ' ' << memory->label(row) << ' ' << memory->source(row);
    for (const float x : key) text << ' ' << x;
    for (const float x : residual) text << ' ' << x;
    text << '\n';
  }
  return text.str();
}

// The same with the rows that are stored, deleted or not: tells a compacted memory from a worn one;
// and with the snapshots.
inline std::string StoredStateOf(const std::string& path) {
  const auto memory = ResidualMemory::Open(path);
  const int64_t stored = memory.ok() ? memory->capacity() : 0;
  std::string text = StateOf(path) + "stored: " + std::to_string(stored);
  const auto list = ListSnapshots(path);
  if (!list.ok()) return text;
  for (const SnapshotInfo& info : list->snapshots) {
    text +=
        "\nsnapshot " + info.name + info.problem + "\n" + StateOf(SnapshotPath(path, info.name));
  }
  return text;
}

}  // namespace resmem

#endif  // RESMEM_TESTS_CORRUPT_MEMORY_OPERATIONS_H_
