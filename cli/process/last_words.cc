#include "process/last_words.h"

#include <execinfo.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <new>

#include "console/exit_code.h"
#include "process/standard_descriptors.h"
#include "resmem/mapped_files.h"
#include "resmem/residual_memory.h"

namespace resmem::cli {
namespace {

const char* announced = nullptr;
const char* done_before = nullptr;
int64_t changes_before = 0;

void Say(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

bool OutOfMemoryEndsUs() {
  try {
    if (const std::exception_ptr current = std::current_exception()) {
      std::rethrow_exception(current);
    }
  } catch (const std::bad_alloc&) {
    return true;
  } catch (...) {
    return false;
  }
  // No exception: there may have been no memory to throw one.
  void* probe = std::malloc(4096);
  std::free(probe);
  return probe == nullptr;
}

[[noreturn]] void EndWithoutMemory() {
  if (OutOfMemoryEndsUs()) _exit(SayOutOfMemory());
  Say("error: a bug in resmem, please report it with this command: an uncaught exception\n");
  _exit(static_cast<int>(ExitCode::kBug));
}

}  // namespace

void AnnounceChange(const char* done, const char* before) {
  announced = done;
  done_before = before;
  changes_before = CommittedChanges();
}

void AnnounceOutput(const char* done) {
  AnnounceChange(done, done);
}

bool ChangeWasMade() {
  return announced != nullptr && (done_before != nullptr || CommittedChanges() > changes_before);
}

std::string_view StateOfChange(std::string_view message) {
  if (announced == nullptr) return "";
  if (CommittedChanges() > changes_before) return announced;
  if (done_before != nullptr) return done_before;
  const bool told = message.find("is unchanged") != std::string_view::npos ||
                    message.find("nothing was") != std::string_view::npos;
  return told ? "" : "nothing was changed";
}

int SayOutOfMemory() {
  Say("error: out of memory; free some, or work on fewer rows at a time; ");
  const std::string_view state = StateOfChange("");
  Say(state.empty() ? "nothing was changed" : state);
  Say("\n");
  return static_cast<int>(ExitCode::kOutOfResources);
}

namespace {

// Inside a signal handler.
void EndWithoutPage(const char* path) {
  Say("error: ");
  for (; *path != '\0'; ++path) {
    const auto code = static_cast<unsigned char>(*path);
    Say(code < 32 || code == 127 ? "?" : std::string_view(path, 1));
  }
  Say(": has become shorter, or cannot be read any more, since it was opened; restore it from a "
      "copy");
  const std::string_view state = StateOfChange("");
  Say(state.empty() ? "" : "; ");
  Say(state);
  Say("\n");
  _exit(static_cast<int>(ExitCode::kBadInput));
}

}  // namespace

void PrepareForTheWorst() {
  ReserveStandardDescriptors();
  GuardMappedFiles(EndWithoutPage);
  std::set_terminate(EndWithoutMemory);
  void* frame = nullptr;
  backtrace(&frame, 1);
}

}  // namespace resmem::cli
