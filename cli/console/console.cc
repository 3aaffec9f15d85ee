#include "console/console.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "console/plain_text.h"

namespace resmem::cli {
namespace {

bool IsSet(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

bool TerminalUnderstandsEscapes() {
  const char* terminal = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && terminal != nullptr && std::strcmp(terminal, "dumb") != 0;
}

}  // namespace

Console::Console(std::vector<std::string> words)
    : words_(std::move(words)),
      colors_(TerminalUnderstandsEscapes() && !IsSet("NO_COLOR")),
      progress_(TerminalUnderstandsEscapes()) {}

double Console::SecondsSinceStart() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Console::set_quiet(bool quiet) {
  quiet_ = quiet;
  if (quiet) progress_.Hide();
}

void Console::Note(const std::string& text) {
  if (!quiet_) Say("", "", text);
}

void Console::Warn(const std::string& text) {
  Say("\033[33m", "warning: ", text);
}

void Console::Error(std::string_view text, std::string_view left) {
  Say("\033[31m", "error: ", text, left);
}

void Console::Say(const char* color, const char* title, std::string_view text,
                  std::string_view left) {
  progress_.Clear();
  const bool paint = colors_ && *color != '\0';
  std::fprintf(stderr, "%s%s%s", paint ? color : "", title, paint ? "\033[0m" : "");
  PutPlain(text, stderr);
  if (!left.empty()) std::fputs("; ", stderr);
  PutPlain(left, stderr);
  std::fputc('\n', stderr);
}

}  // namespace resmem::cli
