// What stands behind the handles of resmem.h, and the border that nothing is thrown across.
#ifndef RESMEM_CAPI_HANDLE_H_
#define RESMEM_CAPI_HANDLE_H_

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "capi/resmem.h"
#include "resmem/mapped_files.h"
#include "resmem/predictor.h"
#include "resmem/ram_memory.h"
#include "resmem/report/report.h"

namespace resmem::capi {

// One state of a memory; its readers keep it.
struct State {
  explicit State(ResidualMemory memory_in) : memory(std::move(memory_in)), predictor(memory) {}
  const ResidualMemory memory;
  const Predictor predictor;
  // What resmem_where() was asked for, by its conditions.
  mutable std::mutex parts_mutex;
  mutable std::map<std::string, std::shared_ptr<const State>> parts;
};

}  // namespace resmem::capi

struct resmem_memory {
  std::optional<resmem::RamFolder> ram;
  std::string path;
  bool exact = false;
  bool is_part = false;  // rows of another handle's memory: it cannot be changed
  std::atomic<double> wait_seconds = 0;
  std::mutex changing;  // held by the one call that changes the memory
  std::mutex mutex;     // guards `state`
  std::shared_ptr<const resmem::capi::State> state;
};

namespace resmem::capi {

std::shared_ptr<const State> CurrentState(resmem_memory* memory);
// Opens the memory at the handle's path; its checksums are compared where `verify` says so.
Status Load(resmem_memory* memory, bool verify);
inline constexpr char kGiveFewerRows[] = "not enough memory; give fewer rows at a time";
inline constexpr char kPageLost[] =
    "a file became shorter, or could not be read any more, while it was open; restore it from a "
    "copy and open the memory again";
inline constexpr char kNotOpenedAgain[] =
    "not enough memory after the change; the change was made: free some, then call resmem_reload, "
    "and do not make the change again";

// The change was made, but there was no memory for what follows.
struct NotOpenedAgain : std::exception {
  const char* what() const noexcept override { return kNotOpenedAgain; }
};

Status Invalid(std::string message);
inline constexpr char kIsPart[] =
    "this handle has only the rows that resmem_where() found; use the handle of the memory itself";

// For a change without progress.
inline ChangeOptions Waiting(const resmem_memory* memory) {
  return {memory->wait_seconds, nullptr};
}

// The change, then the new state.
template <class Body>
Status Change(resmem_memory* memory, const Body& change) {
  if (memory->is_part) return Invalid(kIsPart);
  const std::lock_guard<std::mutex> lock(memory->changing);
  const int64_t before = CommittedChanges();
  try {
    Status status = change();
    if (status.ok()) status = Load(memory, /*verify=*/false);
    if (status.ok() || CommittedChanges() == before) return status;
    const bool told = status.message().find("the change was made") != std::string::npos;
    return {status.code(), status.message() + (told ? "" : "; the change was made all the same") +
                               ": call resmem_reload, and do not make the change again"};
  } catch (const std::bad_alloc&) {
    if (CommittedChanges() == before) throw;
    throw NotOpenedAgain();
  }
}

// Keeps the text for resmem_last_error(), of an error, and gives the code.  Needs no memory.
int Report(ErrorCode code, const char* text) noexcept;
const char* LastError() noexcept;

// Runs the body of a function of resmem.h.
template <class Body>
int Guarded(const Body& body) noexcept {
  try {
    const int64_t lost = LostPages();
    Status status = body();
    if (status.ok() && LostPages() != lost) status = Status(ErrorCode::kCorrupt, kPageLost);
    return Report(status.code(), status.message().c_str());
  } catch (const std::bad_alloc&) {
    return Report(ErrorCode::kResourceExhausted, kGiveFewerRows);
  } catch (const NotOpenedAgain& error) {
    return Report(ErrorCode::kResourceExhausted, error.what());
  } catch (const std::exception& error) {
    return Report(ErrorCode::kIo, error.what());
  } catch (...) {
    return Report(ErrorCode::kIo, "an unknown exception");
  }
}

// The caller's options where they are given, over the defaults.  A caller that was compiled with an
// earlier, shorter struct leaves the later fields at theirs.
template <class Options>
Result<Options> ReadOptions(const Options* given, void (*init)(Options*)) {
  Options options;
  init(&options);
  if (given == nullptr) return options;
  if (given->size < sizeof(size_t) || given->size > 4096) {
    return Invalid("options have the size " + std::to_string(given->size) +
                   "; set them up by the function of that name with _init");
  }
  std::memcpy(static_cast<void*>(&options), given, std::min(sizeof(options), given->size));
  return options;
}

// A caller's watch, as the library wants it.
class Watch final : public Progress {
 public:
  explicit Watch(const resmem_watch* watch) {
    if (watch != nullptr) watch_ = *watch;
  }
  void Report(std::string_view stage, int64_t done, int64_t total) override {
    if (watch_.report == nullptr) return;
    if (watch_.report(watch_.user, std::string(stage).c_str(), done, total) != 0) stopped_ = true;
  }
  bool Cancelled() const override {
    return stopped_ ||
           (watch_.cancel != nullptr && __atomic_load_n(watch_.cancel, __ATOMIC_RELAXED) != 0);
  }

 private:
  resmem_watch watch_{};
  std::atomic<bool> stopped_{false};
};

// A copy that resmem_free() frees.
Status GiveText(const std::string& text, char** out);

// Checked views of the caller's arrays.
Result<MatrixView> View(const resmem_matrix& matrix, const char* name);
// As many values as `rows` lines; all names in the message are the struct's.
struct RowsView {
  Rows rows;
  std::vector<std::string> sources, slices, tags;
  std::vector<Role> roles;
};
// `tags`: of each row, or null.
Status ReadRowsView(const resmem_rows* given, RowsView* view, const char* const* tags = nullptr);

// The value of a list whose names the library tells; it gives "unknown" after the last.
template <class Value>
Result<Value> FindByName(const char* name, const char* option, const char* (*name_of)(Value)) {
  std::string known;
  for (int i = 0; i < 64; ++i) {
    const auto value = static_cast<Value>(i);
    const std::string text = name_of(value);
    if (text == "unknown") break;
    if (text == name) return value;
    known += (known.empty() ? "" : ", ") + text;
  }
  return Invalid(std::string(option) + " \"" + name + "\": there are " + known);
}

Result<PredictOptions> ReadPredictOptions(const State& state, const resmem_predict_options* given);
// kMismatch where the arrays do not look like the memory's model's.
Status CheckModel(const resmem_memory& memory, const State& state, const Rows& rows);
// For documents: the call in the place of the command, and the memory.
RunInfo DescribeCall(const char* call, const resmem_memory& memory, const State& state);

}  // namespace resmem::capi

#endif  // RESMEM_CAPI_HANDLE_H_
