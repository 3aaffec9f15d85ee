// The person at the terminal: notes, warnings and progress on standard error.
#ifndef RESMEM_CLI_CONSOLE_CONSOLE_H_
#define RESMEM_CLI_CONSOLE_CONSOLE_H_

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "console/progress_bar.h"
#include "resmem/status.h"

namespace resmem::cli {

class Console {
 public:
  // `words`: the command line as typed.
  explicit Console(std::vector<std::string> words);

  const std::vector<std::string>& words() const { return words_; }
  double SecondsSinceStart() const;

  void set_quiet(bool quiet);

  // "memory: 50,000 rows ...": dropped by --quiet.
  void Note(const std::string& text);
  // "warning: ...": never dropped.
  void Warn(const std::string& text);
  // "error: ...", and behind a semicolon what is `left`, where that is not empty.
  void Error(std::string_view text, std::string_view left = {});

  // Draws a bar on a terminal; tells the library to stop after Ctrl-C.  Never null.
  ProgressBar* progress() { return &progress_; }

 private:
  void Say(const char* color, const char* title, std::string_view text, std::string_view left = {});

  std::vector<std::string> words_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  bool quiet_ = false;
  bool colors_ = false;
  ProgressBar progress_;
};

}  // namespace resmem::cli

#endif  // RESMEM_CLI_CONSOLE_CONSOLE_H_
