#include "memory/manifest/folder_change.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <utility>

#include "format/container_writer.h"
#include "format/format.h"
#include "memory/manifest/file_names.h"
#include "memory/manifest/snapshot_folder.h"
#include "resmem/version.h"
#include "support/output_lock.h"
#include "support/text.h"

namespace resmem {
namespace {

bool HoldsNumberedFiles(const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(),
                     [](const std::string& name) { return GenerationOf(name).has_value(); });
}

// See parallel.cc for the model.
[[gnu::tls_model("initial-exec")]] thread_local int64_t committed_changes = 0;

}  // namespace

std::string UtcNow() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  const size_t size = std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text, size};
}

int64_t CommittedChanges() {
  return committed_changes;
}

FolderChange::FolderChange(FileSystem& files, std::string folder)
    : files_(&files), folder_(std::move(folder)) {
  while (folder_.size() > 1 && folder_.back() == '/') folder_.pop_back();
}

void FolderChange::CleanUp() const {
  // The manifest may have been replaced before the failure: then its files stay.
  const auto manifest = ReadManifest(*files_, folder_);
  if (manifest.ok() || manifest.status().code() == ErrorCode::kNotFound) {
    RemoveFiles(manifest.ok() ? *manifest : Manifest(), first_generation_);
  }
}

FolderChange::~FolderChange() {
  try {
    if (first_generation_ > 0 && !published_) CleanUp();
    lock_.reset();
    // Refused by the system where the folder is not empty.
    if (made_folder_ && !published_) (void)files_->Remove(folder_).ok();
  } catch (...) {  // no memory: the next writer cleans up
  }
}

Result<std::unique_ptr<FolderChange>> FolderChange::Begin(FileSystem& files,
                                                          const std::string& path, Start start,
                                                          const ChangeOptions& options) {
  std::unique_ptr<FolderChange> change(new FolderChange(files, path));
  RESMEM_RETURN_IF_ERROR(change->PrepareFolder(start));
  auto lock =
      WaitForLock(files, change->PathOf(kLockName), {options.wait_seconds, options.progress});
  if (lock.status().code() == ErrorCode::kIo) {
    return Status(ErrorCode::kIo, Text(lock.status().message(),
                                       "; changing a memory needs write access to its folder: "
                                       "grant it, or change a copy (cp -r)"));
  }
  RESMEM_ASSIGN_OR_RETURN(change->lock_, std::move(lock));
  RESMEM_RETURN_IF_ERROR(change->ReadState(start));
  return change;
}

Status FolderChange::PrepareFolder(Start start) {
  if (start == Start::kExisting) {
    // No lock file is put into a folder that is not ours.
    return files_->Exists(PathOf(kManifestName)) ? Status()
                                                 : ReadManifest(*files_, folder_).status();
  }
  if (folder_.empty()) return {ErrorCode::kInvalidArgument, "the path of the memory is empty"};
  if (files_->Exists(folder_)) return CheckNothingElseIsThere(start);
  RESMEM_RETURN_IF_ERROR(files_->MakeDirectory(folder_));
  made_folder_ = true;
  return files_->SyncDirectory(ParentDirectory(folder_));
}

Status FolderChange::CheckNothingElseIsThere(Start start) const {
  if (!files_->IsDirectory(folder_)) {
    return {ErrorCode::kInvalidArgument,
            Text(folder_, ": is a file, and a memory is a folder; choose another name")};
  }
  RESMEM_ASSIGN_OR_RETURN(const std::vector<std::string> names, files_->List(folder_));
  const std::string manifest = PathOf(kManifestName);
  if (files_->Exists(manifest)) {
    // A broken manifest is still of a memory where it starts as ours do, or is empty, or lies
    // beside files of ours.
    RESMEM_ASSIGN_OR_RETURN(const MappedFile mapped, files_->Map(manifest));
    const size_t compared = std::min(mapped.bytes().size(), sizeof(kMagic));
    const bool ours = compared == 0 || std::memcmp(mapped.bytes().data(), kMagic, compared) == 0;
    if (!ours && !HoldsNumberedFiles(names)) {
      return {ErrorCode::kInvalidArgument, Text(folder_, ": holds a file ", kManifestName,
                                                " that is not of a memory; choose another name")};
    }
    if (start == Start::kNewOrReplace) return {};
    return {ErrorCode::kInvalidArgument,
            Text(folder_,
                 ": holds a memory already; choose another name, or overwrite it (--overwrite)")};
  }
  const bool begun = std::any_of(names.begin(), names.end(), IsOurName);
  for (const std::string& name : names) {
    // The model of a memory that a kill kept from being finished.
    if (IsOurName(name) || (begun && name == kBundleName)) continue;
    return {ErrorCode::kInvalidArgument,
            Text(folder_, ": is a folder that holds ", name,
                 " and no memory; choose another name, or an empty folder")};
  }
  return {};
}

Status FolderChange::ReadState(Start start) {
  // Again under the lock: another process may have come first.
  if (start != Start::kExisting) RESMEM_RETURN_IF_ERROR(CheckNothingElseIsThere(start));
  auto manifest = ReadManifest(*files_, folder_);
  const bool absent = manifest.status().code() == ErrorCode::kNotFound;
  if (!manifest.ok() && (start == Start::kExisting || (start == Start::kNew && !absent))) {
    return manifest.status();
  }
  if (manifest.ok() && manifest->snapshot) {
    return {ErrorCode::kInvalidArgument,
            Text(folder_,
                 ": is a snapshot, which nothing changes; go back to it (resmem rollback), "
                 "or change a copy of it")};
  }
  if (manifest.ok()) current_ = std::move(*manifest);

  RESMEM_ASSIGN_OR_RETURN(const std::vector<std::string> names, files_->List(folder_));
  if (start == Start::kNew && HoldsNumberedFiles(names)) {
    return {
        ErrorCode::kInvalidArgument,
        Text(folder_, ": holds files of a memory whose ", kManifestName,
             " is missing, as a command that was killed leaves them; overwrite them (--overwrite), "
             "choose another name, or restore it")};
  }
  RemoveUnfinishedSnapshots(*files_, folder_);
  int64_t latest = current_.generation;
  bool leftovers = false;
  const std::unordered_set<std::string> named = current_.names();
  for (const std::string& name : names) {
    // What a sound manifest does not name is removed, so its number is free.
    if (!manifest.ok()) latest = std::max(latest, GenerationOf(name).value_or(0));
    leftovers |= IsOurName(name) && name != kLockName && !named.contains(name);
  }
  generation_ = latest;
  RESMEM_RETURN_IF_ERROR(NextGeneration());
  first_generation_ = generation_;
  // Without a sound manifest nobody knows which files count: all stay until Publish().
  if (leftovers && manifest.ok()) {
    // Whoever left them may have died before the folder was synced: only then is the manifest
    // that we see the one that a crash of the machine would leave.
    RESMEM_RETURN_IF_ERROR(files_->SyncDirectory(folder_));
    RemoveFiles(current_, 0);
  }
  return {};
}

std::string FolderChange::NewName(const char* prefix) const {
  return NumberedName(prefix, generation_);
}

Status FolderChange::NextGeneration() {
  if (generation_ >= kLargestGeneration) {
    return {ErrorCode::kInvalidArgument,
            Text(folder_, ": its files have reached generation ", generation_,
                 ", the last that a name can hold; build the memory again under another name")};
  }
  ++generation_;
  return {};
}

void FolderChange::CountCommitted() {
  published_ = true;
  ++committed_changes;
}

Status FolderChange::Publish(Manifest manifest) {
  manifest.generation = generation_;
  manifest.description.tool_version = Version();
  if (manifest.description.created.empty()) manifest.description.created = UtcNow();
  Status status;
  try {
    status = WriteManifest(*files_, folder_, manifest, &published_);
  } catch (...) {
    if (published_) ++committed_changes;
    throw;
  }
  if (published_) ++committed_changes;
  if (status.ok()) RemoveFiles(manifest, 0);
  return status;
}

Status FolderChange::Explained(Status status) const noexcept try {
  const ErrorCode code = status.code();
  if (code != ErrorCode::kIo && code != ErrorCode::kResourceExhausted) return status;
  const char* made = "the change was made all the same";
  return {code, Text(status.message(), "; ",
                     published_                ? made
                     : current_.generation > 0 ? folder_ + " is unchanged"
                                               : "nothing was written")};
} catch (...) {
  return Status(ErrorCode::kResourceExhausted, kOutOfMemory);
}

void FolderChange::RemoveFiles(const Manifest& keep, int64_t least_generation) const noexcept try {
  const auto names = files_->List(folder_);
  if (!names.ok()) return;
  const std::unordered_set<std::string> kept = keep.names();
  for (const std::string& name : *names) {
    if (!IsOurName(name) || name == kLockName || kept.contains(name)) continue;
    if (name.ends_with(kTemporarySuffix) || GenerationOf(name).value_or(0) >= least_generation) {
      (void)files_->Remove(PathOf(name)).ok();
    }
  }
} catch (...) {  // no memory
}

}  // namespace resmem
