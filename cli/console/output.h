// Where results go: standard output, or a file that appears whole or not at all.
#ifndef RESMEM_CLI_CONSOLE_OUTPUT_H_
#define RESMEM_CLI_CONSOLE_OUTPUT_H_

#include <optional>
#include <string>
#include <string_view>

#include "resmem/status.h"
#include "resmem_program/output_file.h"

namespace resmem::cli {

// Buffered.  Nothing is certain until Close() is ok; a file that was not closed is removed.
// Errors: kIo, kResourceExhausted (no space), kCancelled (the reader of a pipe left).
class Output {
 public:
  static Output Standard();
  // See OutputFile.
  static Result<Output> File(const std::string& path);
  // `path` empty or "-": standard output.
  static Result<Output> Open(const std::string& path);

  Status Write(std::string_view text);
  Status Flush();
  Status Close();

 private:
  explicit Output(std::optional<OutputFile> file) : file_(std::move(file)) {}
  static Status Fail();  // standard output

  std::optional<OutputFile> file_;  // none: standard output
  std::string buffer_;
};

// A whole result at once.
Status PrintResult(std::string_view text);

}  // namespace resmem::cli

#endif  // RESMEM_CLI_CONSOLE_OUTPUT_H_
