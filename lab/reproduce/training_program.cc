#include "reproduce/training_program.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "console/format.h"
#include "console/interrupt.h"
#include "process/sibling.h"
#include "resmem_program/system_error.h"

extern char** environ;

namespace resmem::cli {
namespace {

using Json = nlohmann::json;

constexpr char kProgram[] = "resmem-train";
constexpr int kPollMilliseconds = 200;

Status System(const std::string& what) {
  const int error = errno;
  return Status(CodeOfSystemError(error), what + ": " + std::strerror(error));
}

std::string EpochText(const Json& e) {
  std::string text = "epoch " + Count(e.value("epoch", int64_t{0})) + " of " +
                     Count(e.value("epochs", int64_t{0})) + ": rate " +
                     ShortNumber(e.value("rate", 0.0)) + ", loss " +
                     Fixed(e.value("loss", 0.0), 4) + ", accuracy " +
                     Percent(e.value("train_accuracy", 0.0)) + " while learning";
  if (e.contains("validation_accuracy")) {
    text += ", " + Percent(e.value("validation_accuracy", 0.0)) + " held out";
  }
  if (e.contains("test_accuracy")) text += ", " + Percent(e.value("test_accuracy", 0.0)) + " test";
  text += ", " + Count(static_cast<int64_t>(e.value("rows_per_second", 0.0))) + " rows/s";
  const auto epoch = static_cast<double>(e.value("epoch", int64_t{1}));
  const double left = static_cast<double>(e.value("epochs", int64_t{0})) - epoch;
  if (left > 0) text += ", " + Duration(e.value("seconds", 0.0) / epoch * left) + " left";
  return text;
}

// One line of the program's words; its error is kept.
void Show(const Json& line, Console& console, Status* error) {
  if (!line.is_object()) return;
  if (const auto note = line.find("note"); note != line.end() && note->is_string()) {
    console.Note(note->get<std::string>());
  } else if (const auto step = line.find("step"); step != line.end() && step->is_object()) {
    console.progress()->Report("epoch " + Count(step->value("epoch", int64_t{0})),
                               step->value("step", int64_t{0}), step->value("steps", int64_t{1}));
  } else if (const auto epoch = line.find("epoch"); epoch != line.end() && epoch->is_object()) {
    console.Note(EpochText(*epoch));
  } else if (const auto failed = line.find("error"); failed != line.end() && failed->is_object()) {
    const std::string word = failed->value("code", "");
    ErrorCode code = ErrorCode::kIo;
    for (int i = 1; i <= static_cast<int>(ErrorCode::kInternal); ++i) {
      if (ErrorCodeName(static_cast<ErrorCode>(i)) == word) code = static_cast<ErrorCode>(i);
    }
    *error = Status(code, failed->value("message", "training failed"));
  }
}

// Reads lines until the program closes its end.
Status Listen(int pipe, pid_t child, Console& console) {
  Status error;
  std::string pending;
  char buffer[4096];
  bool told = false;
  for (;;) {
    if (InterruptSignal() != 0 && !told) {
      kill(child, SIGTERM);
      told = true;
    }
    pollfd ready{pipe, POLLIN, 0};
    if (poll(&ready, 1, kPollMilliseconds) <= 0) continue;
    const ssize_t count = read(pipe, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return error;
    pending.append(buffer, static_cast<size_t>(count));
    for (size_t end; (end = pending.find('\n')) != std::string::npos; pending.erase(0, end + 1)) {
      Show(Json::parse(pending.substr(0, end), nullptr, false), console, &error);
    }
  }
}

}  // namespace

Result<std::string> FindTrainingProgram() {
  if (const char* named = std::getenv("RESMEM_TRAIN"); named != nullptr && *named != '\0') {
    if (access(named, X_OK) == 0) return std::string(named);
    return Status(ErrorCode::kNotFound,
                  std::string("RESMEM_TRAIN names ") + named + ", which cannot be run");
  }
  if (const std::string path = FindSibling(kProgram); !path.empty()) return path;
  return Status(ErrorCode::kNotFound,
                "resmem-train is not installed beside resmem: training needs libtorch; run apt-get "
                "install libtorch-dev (or ./setup), then build again");
}

Status RunTrainingProgram(const std::string& folder, Console& console) {
  RESMEM_ASSIGN_OR_RETURN(const std::string program, FindTrainingProgram());
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return System("cannot make a pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  std::string folder_word = folder, program_word = program;
  char* words[] = {program_word.data(), folder_word.data(), nullptr};
  pid_t child = 0;
  const int failed = posix_spawn(&child, program.c_str(), &actions, nullptr, words, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (failed != 0) {
    close(ends[0]);
    errno = failed;
    return System("cannot start " + program);
  }
  const Status told = Listen(ends[0], child, console);
  close(ends[0]);
  int state = 0;
  while (waitpid(child, &state, 0) < 0 && errno == EINTR) {
  }
  if (!told.ok()) return told;
  if (WIFEXITED(state) && WEXITSTATUS(state) == 0) return {};
  const std::string how = WIFSIGNALED(state)
                              ? std::string("was killed by signal ") + strsignal(WTERMSIG(state))
                              : "ended with " + std::to_string(WEXITSTATUS(state));
  return Status(ErrorCode::kIo, program + " " + how + "; the last checkpoint in " + folder +
                                    " is kept: the same command continues from there");
}

}  // namespace resmem::cli
