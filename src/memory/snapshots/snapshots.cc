#include "memory/snapshots/snapshots.h"

#include <algorithm>
#include <utility>

#include "memory/manifest/file_names.h"
#include "memory/manifest/folder_change.h"
#include "memory/manifest/snapshot_folder.h"
#include "memory/rows/stored_rows.h"
#include "support/files/modes.h"
#include "support/files/ram_file_system.h"
#include "support/guard.h"
#include "support/text.h"

namespace resmem {
namespace {

Status CheckPlace(const std::string& path, const std::string& name) {
  RESMEM_RETURN_IF_ERROR(CheckSnapshotName(name));
  if (!IsRamPath(path)) return {};
  return {ErrorCode::kUnsupported,
          "a memory in RAM has no snapshots; save it to a folder, and open that"};
}

// A second name of the file, or where the file system has none to give, a copy.
Status LinkOrCopy(FileSystem& files, const std::string& from, const std::string& to) {
  Status linked = files.Link(from, to);
  if (linked.code() != ErrorCode::kUnsupported) return linked;
  RESMEM_ASSIGN_OR_RETURN(const MappedFile file, files.Map(from));
  RESMEM_RETURN_IF_ERROR(WriteFileAtomically(files, to, file.bytes()));
  TakeModeOf(from, to);
  return {};
}

Status FillSnapshot(FolderChange* change, const std::string& folder, const std::string& name,
                    const std::string& note) {
  FileSystem& files = change->files();
  Manifest manifest = change->current();
  manifest.former.reset();
  manifest.snapshot = SnapshotRecord{name, UtcNow(), note};
  RESMEM_RETURN_IF_ERROR(files.MakeDirectory(folder));
  MakePrivate(folder);  // until its files have the memory's modes
  for (const FileRecord* record : manifest.records()) {
    RESMEM_RETURN_IF_ERROR(
        LinkOrCopy(files, change->PathOf(record->file), folder + "/" + record->file));
  }
  RESMEM_RETURN_IF_ERROR(WriteManifest(files, folder, manifest));
  TakeModeOf(change->PathOf(kManifestName), Text(folder, "/", kManifestName));
  // A file that is gone, or is not the one that is named, is noticed now and not at the way back.
  RESMEM_RETURN_IF_ERROR(StoredRows::Load(files, folder).status());
  TakeModeOf(change->folder(), folder);
  return files.SyncDirectory(folder);
}

Status TakeUnderLock(FolderChange* change, const std::string& name, const std::string& note) {
  FileSystem& files = change->files();
  const std::string folder = SnapshotPath(change->folder(), name);
  if (files.Exists(folder)) {
    return {ErrorCode::kInvalidArgument,
            Text(change->folder(), ": has a snapshot \"", name,
                 "\" already; choose another name, or drop it (resmem snapshot drop)")};
  }
  const std::string snapshots = SnapshotsFolder(change->folder());
  const bool first = !files.Exists(snapshots);
  RESMEM_RETURN_IF_ERROR(files.MakeDirectory(snapshots));
  if (first) TakeModeOf(change->folder(), snapshots);
  const std::string unfinished = UnfinishedSnapshot(change->folder(), name);
  Status status = FillSnapshot(change, unfinished, name, note);
  if (status.ok()) status = files.Rename(unfinished, folder);
  if (!status.ok()) {
    RemoveUnfinishedSnapshots(files, change->folder());
    if (first) (void)files.Remove(snapshots).ok();
    return status;
  }
  change->CountCommitted();
  RESMEM_RETURN_IF_ERROR(files.SyncDirectory(snapshots));
  return first ? files.SyncDirectory(change->folder()) : Status();
}

Status NoSuchSnapshot(const std::string& memory, const std::string& name) {
  return {ErrorCode::kNotFound, Text(memory, ": has no snapshot \"", name,
                                     "\"; see those it has: resmem snapshot list ", memory)};
}

Status DropUnderLock(FolderChange* change, const std::string& name) {
  FileSystem& files = change->files();
  const std::string folder = SnapshotPath(change->folder(), name);
  if (!files.IsDirectory(folder)) return NoSuchSnapshot(change->folder(), name);
  const std::string snapshots = SnapshotsFolder(change->folder());
  const std::string unfinished = UnfinishedSnapshot(change->folder(), name);
  RESMEM_RETURN_IF_ERROR(files.Rename(folder, unfinished));
  change->CountCommitted();
  RESMEM_RETURN_IF_ERROR(files.SyncDirectory(snapshots));
  RESMEM_RETURN_IF_ERROR(RemoveFolder(files, unfinished));
  RESMEM_RETURN_IF_ERROR(files.SyncDirectory(snapshots));
  RESMEM_ASSIGN_OR_RETURN(const std::vector<std::string> others, files.List(snapshots));
  if (others.empty()) (void)files.Remove(snapshots).ok();
  return {};
}

// What the memory is to be, with every file of the snapshot under a name of this change.
Status LinkBack(FolderChange* change, const std::string& folder, Manifest* manifest) {
  bool first = true;
  for (const NamedFile& file : NamedFiles(manifest)) {
    if (!first) RESMEM_RETURN_IF_ERROR(change->NextGeneration());
    first = false;
    const std::string name = change->NewName(file.prefix);
    RESMEM_RETURN_IF_ERROR(
        LinkOrCopy(change->files(), folder + "/" + file.record->file, change->PathOf(name)));
    file.record->file = name;
  }
  return change->files().SyncDirectory(change->folder());
}

Status RollBackUnderLock(FolderChange* change, const std::string& name, Progress* progress) {
  const std::string folder = SnapshotPath(change->folder(), name);
  if (!change->files().IsDirectory(folder)) return NoSuchSnapshot(change->folder(), name);
  RESMEM_ASSIGN_OR_RETURN(const StoredRows rows, StoredRows::Load(change->files(), folder));
  RESMEM_RETURN_IF_ERROR(rows.Verify(progress));
  Manifest manifest = rows.manifest();
  if (!manifest.snapshot) {
    return {ErrorCode::kCorrupt,
            Text(folder, ": is no snapshot any more: an older program has changed it")};
  }
  manifest.snapshot.reset();
  manifest.former.reset();
  manifest.next_id = std::max(manifest.next_id, change->current().next_id);
  RESMEM_RETURN_IF_ERROR(LinkBack(change, folder, &manifest));
  return change->Publish(std::move(manifest));
}

}  // namespace

std::string SnapshotPath(const std::string& memory, const std::string& name) {
  return SnapshotsFolder(memory) + "/" + name;
}

std::string MemoryOfSnapshot(const std::string& path) {
  std::string folder = path;
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  const std::string snapshots = ParentDirectory(folder);
  const size_t slash = snapshots.rfind('/');
  const std::string name = slash == std::string::npos ? snapshots : snapshots.substr(slash + 1);
  return name == kSnapshotsName ? ParentDirectory(snapshots) : "";
}

Status TakeSnapshot(FileSystem& files, const std::string& path, const std::string& name,
                    const SnapshotOptions& options) {
  RESMEM_RETURN_IF_ERROR(CheckPlace(path, name));
  return ChangeMemory(files, path, options.change, [&](FolderChange* change) {
    return TakeUnderLock(change, name, options.note);
  });
}

Status DropSnapshot(FileSystem& files, const std::string& path, const std::string& name,
                    const ChangeOptions& options) {
  RESMEM_RETURN_IF_ERROR(CheckPlace(path, name));
  return ChangeMemory(files, path, options,
                      [&](FolderChange* change) { return DropUnderLock(change, name); });
}

Status RollBack(FileSystem& files, const std::string& path, const std::string& name,
                const ChangeOptions& options) {
  RESMEM_RETURN_IF_ERROR(CheckPlace(path, name));
  return ChangeMemory(files, path, options, [&](FolderChange* change) {
    return RollBackUnderLock(change, name, options.progress);
  });
}

Status TakeSnapshot(const std::string& path, const std::string& name,
                    const SnapshotOptions& options) try {
  return TakeSnapshot(FileSystem::Of(path), path, name, options);
} catch (...) {
  return CaughtException("take the snapshot");
}

Status DropSnapshot(const std::string& path, const std::string& name,
                    const ChangeOptions& options) try {
  return DropSnapshot(FileSystem::Of(path), path, name, options);
} catch (...) {
  return CaughtException("drop the snapshot");
}

Status RollBack(const std::string& path, const std::string& name,
                const ChangeOptions& options) try {
  return RollBack(FileSystem::Of(path), path, name, options);
} catch (...) {
  return CaughtException("roll back the memory");
}

}  // namespace resmem
