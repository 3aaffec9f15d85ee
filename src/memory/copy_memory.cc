#include "memory/copy_memory.h"

#include <algorithm>
#include <utility>

#include "format/container_writer.h"
#include "memory/manifest/file_names.h"
#include "memory/manifest/folder_change.h"
#include "memory/rows/stored_rows.h"
#include "resmem/residual_memory.h"
#include "support/files/modes.h"
#include "support/files/ram_file_system.h"
#include "support/guard.h"
#include "support/text.h"

namespace resmem {
namespace {

// A manifest and the files that it names, in its order.
struct MappedMemory {
  Manifest manifest;
  std::vector<std::shared_ptr<MappedFile>> files;
};

Result<MappedMemory> MapMemory(FileSystem& files, const std::string& path) {
  while (true) {
    MappedMemory memory;
    RESMEM_ASSIGN_OR_RETURN(memory.manifest, ReadManifest(files, path));
    memory.manifest.former.reset();  // no answer needs them
    memory.manifest.snapshot.reset();
    Status missing;
    for (const NamedFile& file : NamedFiles(&memory.manifest)) {
      auto mapped = files.Map(Text(path, "/", file.record->file));
      if (!mapped.ok()) {
        missing = mapped.status();
        break;
      }
      memory.files.push_back(std::make_shared<MappedFile>(std::move(*mapped)));
    }
    if (missing.ok()) return memory;
    if (missing.code() != ErrorCode::kNotFound) return missing;
    // Another process has replaced the manifest since, or the file is lost.
    RESMEM_ASSIGN_OR_RETURN(const Manifest now, ReadManifest(files, path));
    if (now.generation == memory.manifest.generation) {
      return Status(ErrorCode::kCorrupt, missing.message());
    }
  }
}

// How far a copy is.
struct CopyProgress {
  Progress* progress;
  int64_t done, total;

  Status Advance(size_t bytes) {
    done += static_cast<int64_t>(bytes);
    if (progress == nullptr) return {};
    progress->Report("copy", done, total);
    if (!progress->Cancelled()) return {};
    return {ErrorCode::kCancelled, "copying the memory was cancelled, nothing was written"};
  }
};

Status WriteCopy(FileSystem& files, const std::string& path, const std::string& mode_of,
                 std::span<const std::byte> bytes, CopyProgress* progress) {
  constexpr size_t kPiece = size_t{16} << 20;
  const std::string temporary = path + kTemporarySuffix;
  RESMEM_ASSIGN_OR_RETURN(const std::unique_ptr<WritableFile> file,
                          files.Create(temporary, mode_of));
  for (size_t offset = 0; offset < bytes.size(); offset += kPiece) {
    const auto piece = bytes.subspan(offset, std::min(kPiece, bytes.size() - offset));
    RESMEM_RETURN_IF_ERROR(file->Write(static_cast<int64_t>(offset), piece));
    RESMEM_RETURN_IF_ERROR(progress->Advance(piece.size()));
  }
  RESMEM_RETURN_IF_ERROR(file->Sync());
  RESMEM_RETURN_IF_ERROR(file->Close());
  return files.Rename(temporary, path);
}

Status WriteCopies(FolderChange* change, const std::string& from, MappedMemory* memory,
                   Progress* progress) {
  CopyProgress copied{progress, 0, 0};
  for (const auto& file : memory->files) {
    copied.total += static_cast<int64_t>(file->bytes().size());
  }
  // What only its owner may read has copies that only they may read.
  const std::string manifest = change->PathOf(kManifestName);
  const bool replaces = change->files().Exists(manifest);
  const std::string mode_of = replaces ? manifest : Text(from, "/", kManifestName);
  const std::vector<NamedFile> named = NamedFiles(&memory->manifest);
  for (size_t i = 0; i < named.size(); ++i) {
    if (i > 0) RESMEM_RETURN_IF_ERROR(change->NextGeneration());
    const std::string name = change->NewName(named[i].prefix);
    RESMEM_RETURN_IF_ERROR(WriteCopy(change->files(), change->PathOf(name), mode_of,
                                     memory->files[i]->bytes(), &copied));
    named[i].record->file = name;
  }
  RESMEM_RETURN_IF_ERROR(change->files().SyncDirectory(change->folder()));
  RESMEM_RETURN_IF_ERROR(change->Publish(memory->manifest));
  if (!replaces) TakeModeOf(mode_of, manifest);
  return {};
}

}  // namespace

Status CopyMemory(FileSystem& from_files, const std::string& from, FileSystem& to_files,
                  const std::string& to, const CopyOptions& options) {
  RESMEM_ASSIGN_OR_RETURN(MappedMemory memory, MapMemory(from_files, from));
  using Start = FolderChange::Start;
  RESMEM_ASSIGN_OR_RETURN(
      const std::unique_ptr<FolderChange> change,
      FolderChange::Begin(to_files, to, options.overwrite ? Start::kNewOrReplace : Start::kNew));
  return change->Explained(WriteCopies(change.get(), from, &memory, options.progress));
}

Status CopyMemory(const std::string& from, const std::string& to, const CopyOptions& options) try {
  // Nothing broken is copied.
  RESMEM_RETURN_IF_ERROR(ResidualMemory::Open(from).status());
  return CopyMemory(FileSystem::Of(from), from, FileSystem::Of(to), to, options);
} catch (...) {
  return CaughtException("copy the memory");
}

Result<std::vector<MemoryFile>> ReadMemoryFiles(const std::string& path) try {
  FileSystem& files = FileSystem::Of(path);
  RESMEM_ASSIGN_OR_RETURN(MappedMemory memory, MapMemory(files, path));
  // Written again, so that it is the one that names these files, whatever lies there by now.
  const std::string folder = NewRamFolder();
  const std::shared_ptr<const void> remover(nullptr,
                                            [folder](const void*) { RemoveRamFolder(folder); });
  RESMEM_RETURN_IF_ERROR(RamFiles().MakeDirectory(folder));
  RESMEM_RETURN_IF_ERROR(WriteManifest(RamFiles(), folder, memory.manifest));
  RESMEM_ASSIGN_OR_RETURN(MappedFile manifest, RamFiles().Map(Text(folder, "/", kManifestName)));
  std::vector<std::shared_ptr<MappedFile>> mapped = {
      std::make_shared<MappedFile>(std::move(manifest))};
  std::vector<std::string> names = {kManifestName};
  mapped.insert(mapped.end(), memory.files.begin(), memory.files.end());
  for (const NamedFile& file : NamedFiles(&memory.manifest)) names.push_back(file.record->file);
  std::vector<MemoryFile> result;
  for (size_t i = 0; i < names.size(); ++i) {
    result.push_back({std::move(names[i]), mapped[i]->bytes(), mapped[i]});
  }
  return result;
} catch (...) {
  return CaughtException("read the memory's files");
}

RamFolder::RamFolder() : path_(NewRamFolder()) {}
RamFolder::~RamFolder() {
  if (!path_.empty()) RemoveRamFolder(path_);
}
RamFolder::RamFolder(RamFolder&& other) noexcept : path_(std::exchange(other.path_, "")) {}
RamFolder& RamFolder::operator=(RamFolder&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

Status RamFolder::Fill(std::span<const MemoryFile> files) try {
  FileSystem& ram = RamFiles();
  RESMEM_RETURN_IF_ERROR(ram.MakeDirectory(path_));
  for (const MemoryFile& file : files) {
    if (file.name != kManifestName && !GenerationOf(file.name)) {
      return {ErrorCode::kBadData, Text("a file of a memory is called MANIFEST or "
                                        "segment-000001.resmem and the like, not \"",
                                        file.name, "\"")};
    }
    CopyProgress unwatched{nullptr, 0, 0};
    RESMEM_RETURN_IF_ERROR(WriteCopy(ram, path_ + "/" + file.name, "", file.bytes, &unwatched));
  }
  return {};
} catch (...) {
  return CaughtException("take the memory's files");
}

}  // namespace resmem
