#include "inputs/text/spm_train.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "console/format.h"
#include "console/interrupt.h"
#include "console/output.h"
#include "inputs/read_whole.h"
#include "process/program_search.h"
#include "resmem_program/system_error.h"

extern char** environ;

namespace resmem::cli {
namespace {

namespace fs = std::filesystem;

constexpr useconds_t kPollMicroseconds = 50000;

// A folder beside the output, removed with all in it.  Its name is the output's, so that what a
// kill left is removed by the next attempt; it is locked, so that no other attempt has it.
class ScratchFolder {
 public:
  static Result<ScratchFolder> Make(const std::string& output) {
    const fs::path path(output);
    const fs::path parent = path.parent_path().empty() ? "." : path.parent_path();
    const std::string name = (parent / (".resmem-tokenizer-" + path.filename().string())).string();
    const auto failed = [&](const std::string& why) {
      return Status(ErrorCode::kIo, name + ": the folder cannot be made: " + why);
    };
    const auto refused = [&](int error) {
      return Status(CodeOfSystemError(error), failed(std::strerror(error)).message());
    };
    if (mkdir(name.c_str(), 0700) != 0 && errno != EEXIST) return refused(errno);
    const int lock = open(name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (lock < 0) return refused(errno);
    ScratchFolder folder(name, lock);
    if (flock(lock, LOCK_EX | LOCK_NB) != 0) {
      folder.path_.clear();  // it is another's
      if (errno != EWOULDBLOCK) return refused(errno);
      return Status(ErrorCode::kResourceExhausted,
                    output +
                        ": another process is training a tokenizer of this name; wait until "
                        "it has finished, or name another output");
    }
    // The one before us may have removed it between our two calls.
    struct stat ours {
    }, named{};
    if (fstat(lock, &ours) != 0 || stat(name.c_str(), &named) != 0 || ours.st_ino != named.st_ino) {
      folder.path_.clear();
      return failed("another process removed it; try again");
    }
    std::error_code error;
    for (const auto& left : fs::directory_iterator(name, error)) fs::remove_all(left, error);
    if (error) return refused(error.value());
    return folder;
  }
  ScratchFolder(ScratchFolder&& other) noexcept
      : path_(std::exchange(other.path_, {})), lock_(std::exchange(other.lock_, -1)) {}
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
    if (lock_ >= 0) close(lock_);
  }
  const std::string& path() const { return path_; }
  std::string operator/(const char* name) const { return path_ + "/" + name; }

 private:
  ScratchFolder(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
  std::string path_;
  int lock_;
};

// The ASCII characters of the text.  Coverage alone would leave the rarest letters of a small text
// out, such as "Y", and all that holds them would become unknown.
std::string PlainCharacters(const std::vector<std::string>& lines) {
  std::array<bool, 128> found{};
  for (const std::string& line : lines) {
    for (const char c : line) {
      if (c > ' ' && c < 127) found[static_cast<size_t>(c)] = true;
    }
  }
  std::string characters;
  for (size_t c = 0; c < found.size(); ++c) {
    if (found[c]) characters += static_cast<char>(c);
  }
  return characters;
}

Status WriteLines(const std::vector<std::string>& lines, const std::string& path) {
  RESMEM_ASSIGN_OR_RETURN(Output output, Output::File(path));
  for (const std::string& line : lines) {
    RESMEM_RETURN_IF_ERROR(output.Write(line));
    RESMEM_RETURN_IF_ERROR(output.Write("\n"));
  }
  return output.Close();
}

constexpr char kInstall[] = "; it comes with: apt-get install sentencepiece (./setup does that)";

// Starts the program in `folder`; its words go to the file "log" there.
Result<pid_t> Start(const ScratchFolder& folder, std::vector<std::string> words) {
  const auto found = FindProgram(words[0]);
  if (!found.ok()) {
    return Status(found.status().code(),
                  words[0] + " cannot be started: " + found.status().message() + kInstall);
  }
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder.path().c_str());
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "log", O_WRONLY | O_CREAT | O_APPEND,
                                   0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int failed =
      posix_spawn(&child, found->c_str(), &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed == 0) return child;
  return Status(CodeOfSystemError(failed),
                words[0] + " cannot be started: " + std::strerror(failed) + kInstall);
}

// The child's state; stops it when the user asks to.
int Wait(pid_t child) {
  int state = 0;
  bool told = false;
  while (true) {
    const pid_t ended = waitpid(child, &state, WNOHANG);
    if (ended == child || (ended < 0 && errno != EINTR)) return state;
    if (InterruptSignal() != 0 && !std::exchange(told, true)) kill(child, SIGTERM);
    usleep(kPollMicroseconds);
  }
}

// "file.cc(660) [condition] Vocabulary size too high ...": what is for people.
std::string Reason(const std::string& log_path) {
  std::ifstream file(log_path);
  std::string reason;
  for (std::string line; std::getline(file, line);) {
    if (line.find("(") == std::string::npos || line.find("] ") == std::string::npos) continue;
    reason = line.substr(line.rfind("] ") + 2);
  }
  return reason;
}

}  // namespace

Status RunSpmTrain(const std::vector<std::string>& lines, const SpmTrainOptions& options,
                   const std::string& path) {
  RESMEM_ASSIGN_OR_RETURN(const ScratchFolder folder, ScratchFolder::Make(path));
  RESMEM_RETURN_IF_ERROR(WriteLines(lines, folder / "sample.txt"));
  RESMEM_ASSIGN_OR_RETURN(
      const pid_t child,
      Start(folder, {"spm_train", "--input=sample.txt", "--model_prefix=trained",
                     std::string("--model_type=") + TokenizerKindName(options.kind),
                     "--vocab_size=" + std::to_string(options.pieces),
                     "--character_coverage=" + ShortNumber(options.character_coverage),
                     "--required_chars=" + PlainCharacters(lines), "--pad_id=0", "--eos_id=1",
                     "--unk_id=2", "--bos_id=-1", "--num_threads=4", "--minloglevel=1"}));
  const int state = Wait(child);
  RESMEM_RETURN_IF_ERROR(CheckInterrupt());
  if (!WIFEXITED(state) || WEXITSTATUS(state) != 0) {
    const std::string reason = Reason(folder / "log");
    return {reason.empty() ? ErrorCode::kIo : ErrorCode::kBadData,
            "spm_train could not train a tokenizer of " + Counted(options.pieces, "piece") +
                " on " + Counted(static_cast<int64_t>(lines.size()), "line") + ": " +
                (reason.empty() ? "it gave no reason" : reason)};
  }
  std::ifstream file(folder / "trained.model", std::ios::binary);
  std::string model;
  if (!ReadWhole(file, &model)) {
    return {ErrorCode::kIo,
            std::string("the trained model cannot be read: ") + std::strerror(errno)};
  }
  RESMEM_RETURN_IF_ERROR(
      Tokenizer::Parse("the trained model", std::as_bytes(std::span(model))).status());
  RESMEM_ASSIGN_OR_RETURN(Output output, Output::File(path));
  RESMEM_RETURN_IF_ERROR(output.Write(model));
  return output.Close();
}

}  // namespace resmem::cli
