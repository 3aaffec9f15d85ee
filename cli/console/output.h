// Where results go: standard output, or a file that appears whole or not at all.
#ifndef RESMEM_CLI_CONSOLE_OUTPUT_H_
#define RESMEM_CLI_CONSOLE_OUTPUT_H_

#include <string>
#include <string_view>

#include "resmem/status.h"

namespace resmem::cli {

// Buffered.  Nothing is certain until Close() is ok; a file that was not closed is removed.
// Errors: kIo, kResourceExhausted (no space), kCancelled (the reader of a pipe left).
class Output {
 public:
  static Output Standard();
  // Written beside `path` under another name, renamed by Close().  Of a symbolic link the target
  // is replaced; a device or pipe is written directly.
  static Result<Output> File(const std::string& path);
  // `path` empty or "-": standard output.
  static Result<Output> Open(const std::string& path);
  Output(Output&& other) noexcept;
  Output& operator=(Output&&) = delete;
  ~Output();

  Status Write(std::string_view text);
  Status Flush();
  Status Close();

 private:
  Output(int descriptor, std::string name, std::string path, std::string temporary)
      : descriptor_(descriptor),
        name_(std::move(name)),
        path_(std::move(path)),
        temporary_(std::move(temporary)) {}
  Status Fail(const char* doing) const;

  int descriptor_ = -1;
  std::string name_;       // for messages
  std::string path_;       // the file's final name
  std::string temporary_;  // its name until Close(); empty: written in place
  std::string buffer_;
};

// A whole result at once.
Status PrintResult(std::string_view text);

}  // namespace resmem::cli

#endif  // RESMEM_CLI_CONSOLE_OUTPUT_H_
