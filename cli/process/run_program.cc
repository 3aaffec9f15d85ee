#include "process/run_program.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "console/interrupt.h"
#include "process/program_search.h"
#include "resmem_program/system_error.h"

namespace resmem::cli {
namespace {

constexpr int kPollMilliseconds = 100;

// All that comes through the pipe until its writers have closed it; passes an interrupt on, once.
std::string ReadWhileRunning(int pipe, pid_t child) {
  std::string text;
  std::array<char, 4096> block;
  bool told = false;
  while (true) {
    pollfd wait{pipe, POLLIN, 0};
    const int ready = poll(&wait, 1, kPollMilliseconds);
    if (InterruptSignal() != 0 && !std::exchange(told, true)) kill(child, SIGTERM);
    if (ready <= 0) continue;
    const ssize_t count = read(pipe, block.data(), block.size());
    if (count == 0 || (count < 0 && errno != EINTR)) return text;
    if (count > 0) text.append(block.data(), static_cast<size_t>(count));
  }
}

}  // namespace

std::string ProgramEnd::LastLine() const {
  const size_t end = output.find_last_not_of('\n');
  if (end == std::string::npos) return "";
  const size_t before = output.rfind('\n', end);
  const size_t start = before == std::string::npos ? 0 : before + 1;
  return output.substr(start, end + 1 - start);
}

Result<ProgramEnd> RunToEnd(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::vector<std::string> environment = TrustedEnvironment();
  std::vector<char*> variables;
  for (std::string& variable : environment) variables.push_back(variable.data());
  variables.push_back(nullptr);
  std::array<int, 2> ends;
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    const int error = errno;
    return Status(CodeOfSystemError(error), words[0] + ": no pipe to it: " + std::strerror(error));
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  pid_t child = 0;
  const int failed =
      posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), variables.data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (failed != 0) {
    close(ends[0]);
    return Status(CodeOfSystemError(failed),
                  words[0] + ": cannot be started: " + std::strerror(failed));
  }
  ProgramEnd end;
  end.output = ReadWhileRunning(ends[0], child);
  close(ends[0]);
  int state = 0;
  while (waitpid(child, &state, 0) < 0 && errno == EINTR) {
  }
  RESMEM_RETURN_IF_ERROR(CheckInterrupt());
  end.exit_code = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
  return end;
}

}  // namespace resmem::cli
