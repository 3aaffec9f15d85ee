#include "process/last_words.h"

#include <execinfo.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <new>

#include "console/exit_code.h"
#include "process/standard_descriptors.h"
#include "resmem/residual_memory.h"

namespace resmem::cli {
namespace {

const char* announced = nullptr;

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

void AnnounceChange(const char* done) {
  announced = done;
}

bool ChangeWasMade() {
  return announced != nullptr && CommittedChanges() > 0;
}

std::string_view StateOfChange(std::string_view message) {
  if (announced == nullptr) return "";
  if (ChangeWasMade()) return announced;
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

void PrepareForTheWorst() {
  ReserveStandardDescriptors();
  std::set_terminate(EndWithoutMemory);
  void* frame = nullptr;
  backtrace(&frame, 1);
}

}  // namespace resmem::cli
