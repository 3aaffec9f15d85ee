#include "operation/log.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <ctime>

namespace resmem::serve {
namespace {

void LogLine(const char* level, std::string_view event, const JsonText& details) {
  JsonText head;
  head.Add("time", TimeNow()).Add("level", level).Add("event", event);
  std::string line = head.Object(), rest = details.Object();
  if (rest.size() > 2) {
    line.back() = ',';
    line.append(rest, 1);
  }
  line += '\n';
  // One write, so that lines of several threads do not mix; without a reader the line is lost.
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace

std::string TimeNow() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto millis = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  const std::time_t seconds = millis / 1000;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[48];
  const size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
  std::snprintf(text + length, sizeof text - length, ".%03dZ", static_cast<int>(millis % 1000));
  return text;
}

void LogInfo(std::string_view event, const JsonText& details) {
  LogLine("info", event, details);
}
void LogWarning(std::string_view event, const JsonText& details) {
  LogLine("warning", event, details);
}

}  // namespace resmem::serve
