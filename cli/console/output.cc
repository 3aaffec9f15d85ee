#include "console/output.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "console/plain_text.h"
#include "resmem_program/system_error.h"

namespace resmem::cli {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 16;

}  // namespace

Output Output::Standard() {
  return Output(std::nullopt);
}

Result<Output> Output::File(const std::string& path) {
  RESMEM_ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create(path));
  return Output(std::move(file));
}

Result<Output> Output::Open(const std::string& path) {
  if (path.empty() || path == "-") return Standard();
  return File(path);
}

Status Output::Fail() {
  const int error = errno;
  if (error == EPIPE) return Status(ErrorCode::kCancelled, "the reader of standard output left");
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  return Status(CodeOfSystemError(error),
                std::string("standard output cannot be written: ") + std::strerror(error) +
                    (full ? "; free some space or choose another place" : ""));
}

Status Output::Write(std::string_view text) {
  buffer_ += text;
  return buffer_.size() < kBufferBytes ? Status() : Flush();
}

Status Output::Flush() {
  if (file_.has_value()) {
    RESMEM_RETURN_IF_ERROR(file_->Write(buffer_));
    buffer_.clear();
    return {};
  }
  // A terminal obeys what it is sent, a file keeps it: only the first needs protection.
  if (isatty(STDOUT_FILENO) != 0) buffer_ = Plain(buffer_);
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const ssize_t written = write(STDOUT_FILENO, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Fail();
    rest.remove_prefix(static_cast<size_t>(written));
  }
  buffer_.clear();
  return {};
}

Status Output::Close() {
  RESMEM_RETURN_IF_ERROR(Flush());
  if (file_.has_value()) return file_->Close();
  // Some systems report a full disk only here.  A duplicate, as standard output stays open.
  const int duplicate = dup(STDOUT_FILENO);
  return duplicate < 0 || close(duplicate) != 0 ? Fail() : Status();
}

Status PrintResult(std::string_view text) {
  Output out = Output::Standard();
  RESMEM_RETURN_IF_ERROR(out.Write(text));
  return out.Close();
}

}  // namespace resmem::cli
