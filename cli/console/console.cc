#include "console/console.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

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

void Console::Error(const std::string& text) {
  Say("\033[31m", "error: ", text);
}

void Console::Say(const char* color, const char* title, const std::string& text) {
  progress_.Clear();
  const bool paint = colors_ && *color != '\0';
  std::fprintf(stderr, "%s%s%s%s\n", paint ? color : "", title, paint ? "\033[0m" : "",
               text.c_str());
}

}  // namespace resmem::cli
