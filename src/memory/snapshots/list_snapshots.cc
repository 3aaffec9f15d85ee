#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "format/container_writer.h"
#include "memory/manifest/file_names.h"
#include "memory/manifest/manifest.h"
#include "memory/manifest/snapshot_folder.h"
#include "memory/memory_parts.h"
#include "memory/rows/id_index.h"
#include "memory/rows/stored_rows.h"
#include "resmem/snapshots.h"
#include "support/guard.h"
#include "support/text.h"

namespace resmem {
namespace {

// Finished ones.
Result<std::vector<std::string>> SnapshotNames(FileSystem& files, const std::string& path) {
  std::vector<std::string> names;
  const std::string folder = SnapshotsFolder(path);
  if (!files.IsDirectory(folder)) return names;
  RESMEM_ASSIGN_OR_RETURN(names, files.List(folder));
  std::erase_if(names, [&](const std::string& name) {
    return !CheckSnapshotName(name).ok() || !files.IsDirectory(folder + "/" + name);
  });
  return names;
}

// A file is the same wherever it has the same bytes.
using FileKey = std::tuple<uint64_t, int64_t, int64_t>;
FileKey KeyOf(const FileRecord& record) {
  return {record.header_hash, record.bytes, record.rows};
}

SnapshotInfo DescribeSnapshot(const Manifest& manifest, const std::map<FileKey, int64_t>& shared,
                              std::map<FileKey, int64_t>* own) {
  SnapshotInfo info;
  info.name = manifest.snapshot->name;
  info.note = manifest.snapshot->note;
  info.created = manifest.snapshot->created;
  info.rows = manifest.stored_rows() - (manifest.deletions ? manifest.deletions->rows : 0);
  info.bytes = info.own_bytes = manifest.bytes;
  for (const FileRecord* record : manifest.records()) {
    info.bytes += record->bytes;
    if (shared.contains(KeyOf(*record))) continue;
    info.own_bytes += record->bytes;
    own->emplace(KeyOf(*record), record->bytes);
  }
  return info;
}

Result<SnapshotList> ListBeside(FileSystem& files, const std::string& path,
                                const Manifest& memory) {
  RESMEM_ASSIGN_OR_RETURN(const std::vector<std::string> names, SnapshotNames(files, path));
  std::map<FileKey, int64_t> shared, own;
  for (const FileRecord* record : memory.records()) shared.emplace(KeyOf(*record), record->bytes);
  SnapshotList list;
  for (const std::string& name : names) {
    const auto manifest = ReadManifest(files, SnapshotPath(path, name));
    if (manifest.ok() && manifest->snapshot) {
      list.snapshots.push_back(DescribeSnapshot(*manifest, shared, &own));
      list.snapshots.back().name = name;
      list.own_bytes += manifest->bytes;
      continue;
    }
    SnapshotInfo broken;
    broken.name = name;
    broken.problem = manifest.ok() ? Text(SnapshotPath(path, name),
                                          ": is no snapshot any more: an older program has changed "
                                          "it")
                                   : manifest.status().message();
    list.snapshots.push_back(std::move(broken));
  }
  for (const auto& [key, bytes] : own) list.own_bytes += bytes;
  const auto order = [](const SnapshotInfo& info) { return std::tie(info.created, info.name); };
  std::stable_sort(list.snapshots.begin(), list.snapshots.end(),
                   [&](const SnapshotInfo& a, const SnapshotInfo& b) {
                     if (a.problem.empty() != b.problem.empty()) return a.problem.empty();
                     return order(a) < order(b);
                   });
  return list;
}

}  // namespace

Result<SnapshotList> ListSnapshots(const std::string& path) try {
  FileSystem& files = FileSystem::Of(path);
  // Without any it does not matter what the manifest says, or that it is broken.
  RESMEM_ASSIGN_OR_RETURN(const std::vector<std::string> names, SnapshotNames(files, path));
  if (names.empty() && files.Exists(path + "/" + kManifestName)) return SnapshotList();
  RESMEM_ASSIGN_OR_RETURN(const Manifest memory, ReadManifest(files, path));
  return ListBeside(files, path, memory);
} catch (...) {
  return CaughtException("list the snapshots");
}

Result<SnapshotList> ListSnapshots(const std::string& path, const ResidualMemory& memory) try {
  return ListBeside(FileSystem::Of(path), path, MemoryParts::Rows(memory).manifest());
} catch (...) {
  return CaughtException("list the snapshots");
}

Result<std::vector<SnapshotRows>> FindInSnapshots(const std::string& path,
                                                  std::span<const uint64_t> ids) try {
  FileSystem& files = FileSystem::Of(path);
  RESMEM_ASSIGN_OR_RETURN(const std::vector<std::string> names, SnapshotNames(files, path));
  std::vector<SnapshotRows> found;
  for (const std::string& name : names) {
    RESMEM_ASSIGN_OR_RETURN(const StoredRows rows,
                            StoredRows::Load(files, SnapshotPath(path, name)));
    RESMEM_RETURN_IF_ERROR(rows.VerifyNarrow());
    const IdIndex index(rows);
    SnapshotRows holds{name, {}};
    for (const uint64_t id : ids) {
      if (index.Find(id)) holds.ids.push_back(id);
    }
    std::sort(holds.ids.begin(), holds.ids.end());
    if (!holds.ids.empty()) found.push_back(std::move(holds));
  }
  return found;
} catch (...) {
  return CaughtException("look into the snapshots");
}

}  // namespace resmem
