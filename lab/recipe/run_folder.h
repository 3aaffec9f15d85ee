// The folder of a training run: recipe.json, log.jsonl, and checkpoint-NNNN, of which the newest
// two are kept.  A run that was killed goes on from the newest that is sound.
#ifndef RESMEM_LAB_RECIPE_RUN_FOLDER_H_
#define RESMEM_LAB_RECIPE_RUN_FOLDER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "recipe/checkpoint_file.h"
#include "resmem/status.h"
#include "support/file_system.h"

namespace resmem {

// Makes it with the folders above it.
Status MakeRunFolder(const std::string& folder);
// For who writes into it; kResourceExhausted where another process does.
Result<std::unique_ptr<FileLock>> LockRun(const std::string& folder);
// kMismatch; `difference`: the first value that the run there was begun with and this one was not.
Status HoldsAnotherRun(const std::string& folder, const std::string& difference,
                       const std::string& advice);

// What the runs of a trainer are counted by, and how its checkpoints call their arrays.
struct RunKind {
  const char* counter;  // a field of the log's lines: "epoch", "step"
  int digits;           // of a number in the name of a file
  const char* arrays;   // "tensors", "arrays"
};

// One array of a run's state.
struct StateArray {
  Json words;  // its name and shape
  int64_t count = 0;
  std::function<Status(const AppendFloats&)> give;
  std::function<void(std::span<const float>)> take;
};

class RunFolder {
 public:
  RunFolder(std::string path, RunKind kind) : path_(std::move(path)), kind_(kind) {}

  std::string File(const std::string& name) const { return path_ + "/" + name; }
  // "epoch-0128"
  std::string Numbered(const char* kind, int64_t number) const;

  // Writes the state at `number` and removes all but the newest two checkpoints.
  Status Save(int64_t number, Json words, const std::vector<StateArray>& state) const;
  // From the newest checkpoint that is sound; one that is not is told to `note` and passed over.
  // `take` gets its path and words before `state` is filled.  kMismatch, of `take` or by other
  // arrays, ends the search.  No checkpoint: neither is touched.
  using TakeWords = std::function<Status(const std::string& path, const Json& words)>;
  Status Restore(const TakeWords& take, const std::vector<StateArray>& state,
                 const std::function<void(const std::string&)>& note) const;

  Status Log(const Json& line) const;
  // Keeps the lines up to `number`: what a killed run wrote beyond its checkpoint comes again.
  Status CutLog(int64_t number) const;

 private:
  Result<std::vector<int64_t>> Checkpoints() const;  // their numbers, rising
  Status Load(const std::string& path, const TakeWords& take,
              const std::vector<StateArray>& state) const;

  std::string path_;
  RunKind kind_;
};

}  // namespace resmem

#endif  // RESMEM_LAB_RECIPE_RUN_FOLDER_H_
