#include "resmem_program/output_file.h"

#include <algorithm>
#include <span>
#include <utility>

#include "support/file_system.h"
#include "support/guard.h"

namespace resmem {

struct OutputFile::State {
  ~State() {
    if (temporary.empty()) return;
    try {
      // Before it is closed, and so unlocked: then another writer may have the name.
      (void)FileSystem::Posix().Remove(temporary).ok();
    } catch (...) {  // no memory for a message that nobody reads; the next writer removes it
    }
  }

  std::string target, folder;
  std::string temporary;  // empty: written in place, or closed
  std::unique_ptr<WritableFile> file;
  int64_t size = 0;
};

OutputFile::OutputFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
OutputFile::OutputFile(OutputFile&&) noexcept = default;
OutputFile::~OutputFile() = default;

Result<OutputFile> OutputFile::Create(const std::string& path) try {
  FileSystem& files = FileSystem::Posix();
  auto state = std::make_unique<State>();
  state->target = path;
  if (IsDeviceOrPipe(path)) {
    RESMEM_ASSIGN_OR_RETURN(state->file, OpenStream(path));
    return OutputFile(std::move(state));
  }
  state->target = FollowLinks(path);
  state->folder = ParentDirectory(state->target);
  std::string temporary = TemporaryName(state->target);
  if (files.IsDirectory(state->target)) {
    return Status(ErrorCode::kIo, Text(path, ": is a folder; name a file"));
  }
  auto created = files.Create(temporary, state->target);
  // A folder that is missing is not an input that is missing.
  if (created.status().code() == ErrorCode::kNotFound) {
    return Status(ErrorCode::kIo, created.status().message());
  }
  RESMEM_ASSIGN_OR_RETURN(state->file, std::move(created));
  state->temporary = std::move(temporary);
  return OutputFile(std::move(state));
} catch (...) {
  return CaughtException("create a file");
}

Status OutputFile::Write(std::string_view bytes) try {
  RESMEM_RETURN_IF_ERROR(state_->file->Write(state_->size, std::as_bytes(std::span(bytes))));
  state_->size += static_cast<int64_t>(bytes.size());
  return {};
} catch (...) {
  return CaughtException("write a file");
}

Status OutputFile::WriteAt(int64_t offset, std::string_view bytes) try {
  if (state_->temporary.empty()) {
    return {ErrorCode::kInvalidArgument,
            Text(state_->target,
                 ": is a device or pipe, which cannot be written out of order; "
                 "name a file")};
  }
  RESMEM_RETURN_IF_ERROR(state_->file->Write(offset, std::as_bytes(std::span(bytes))));
  state_->size = std::max(state_->size, offset + static_cast<int64_t>(bytes.size()));
  return {};
} catch (...) {
  return CaughtException("write a file");
}

Status OutputFile::Close() try {
  if (state_->temporary.empty()) return state_->file->Close();
  FileSystem& files = FileSystem::Posix();
  RESMEM_RETURN_IF_ERROR(state_->file->Sync());
  RESMEM_RETURN_IF_ERROR(files.Rename(state_->temporary, state_->target));
  state_->temporary.clear();
  state_->file.reset();
  return files.SyncDirectory(state_->folder);
} catch (...) {
  return CaughtException("write a file");
}

}  // namespace resmem
