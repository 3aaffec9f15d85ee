// A file that appears whole or not at all, for programs that write results.
#ifndef RESMEM_PROGRAM_OUTPUT_FILE_H_
#define RESMEM_PROGRAM_OUTPUT_FILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "resmem/status.h"

namespace resmem {

// Written beside `path` under another name, which Close() renames; without Close() it is removed.
// Two processes never write one file at the same time: the second gets kResourceExhausted.  A file
// that is replaced passes on its mode.  Of a symbolic link the target is replaced; a device or pipe
// is written directly, and kCancelled says that its reader left.
class OutputFile {
 public:
  static Result<OutputFile> Create(const std::string& path);
  OutputFile(OutputFile&&) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  Status Write(std::string_view bytes);  // after what was written before
  // Anywhere; what is never written is zeros.  kInvalidArgument for a device or pipe.
  Status WriteAt(int64_t offset, std::string_view bytes);
  Status Close();  // synced, and its folder too

 private:
  struct State;
  explicit OutputFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace resmem

#endif  // RESMEM_PROGRAM_OUTPUT_FILE_H_
