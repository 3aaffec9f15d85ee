// One change of a memory's folder: docs/memory_format.md, section 1.
//
// Begin() takes the lock; the caller writes new files under NewName(); Publish() replaces the
// manifest and removes what it no longer names.  Destruction without Publish() removes what
// was written, and the folder where this change made it.
#ifndef RESMEM_MEMORY_MANIFEST_FOLDER_CHANGE_H_
#define RESMEM_MEMORY_MANIFEST_FOLDER_CHANGE_H_

#include <memory>
#include <string>

#include "memory/manifest/manifest.h"
#include "support/file_system.h"
#include "support/guard.h"

namespace resmem {

// "2026-11-16T01:02:03Z"
std::string UtcNow();

class FolderChange {
 public:
  enum class Start {
    kExisting,      // a memory that must be there
    kNew,           // a folder that is not there, or empty
    kNewOrReplace,  // that, or a memory, even a broken one, of which nothing is kept
  };
  // Errors: kNotFound (no memory, no parent folder), kInvalidArgument (something else is there),
  // kInvalidArgument (a snapshot), kResourceExhausted (another process is changing it), and those
  // of ReadManifest().
  static Result<std::unique_ptr<FolderChange>> Begin(FileSystem& files, const std::string& path,
                                                     Start start,
                                                     const ChangeOptions& options = {});
  ~FolderChange();
  FolderChange(const FolderChange&) = delete;
  FolderChange& operator=(const FolderChange&) = delete;

  FileSystem& files() const { return *files_; }
  const std::string& folder() const { return folder_; }
  // The memory that is being changed; empty for a new one.
  const Manifest& current() const { return current_; }

  // "segment-000007.resmem", for this change's generation.
  std::string NewName(const char* prefix) const;
  // The next NewName() is of a later generation: for changes that write several files of a kind.
  Status NextGeneration();
  std::string PathOf(const std::string& name) const { return folder_ + "/" + name; }

  // A change that is made without Publish(), as of a snapshot: for CommittedChanges().
  void CountCommitted();

  // Sets the generation and the tool version, and the date where it is empty.
  Status Publish(Manifest manifest);

  // `status` of this change; where the system refused something, also what is left.
  Status Explained(Status status) const noexcept;
  // body(), its exceptions too, Explained().
  template <class Body>
  Status Try(const Body& body) const {
    try {
      return Explained(body());
    } catch (...) {
      return Explained(CaughtException("change the memory"));
    }
  }

 private:
  FolderChange(FileSystem& files, std::string folder);
  Status PrepareFolder(Start start);
  Status CheckNothingElseIsThere(Start start) const;
  Status ReadState(Start start);
  // Removes what a writer of ours left: files of `least_generation` or later that `keep` does not
  // name, and temporary ones.  Best effort: the next writer tries again.
  void RemoveFiles(const Manifest& keep, int64_t least_generation) const noexcept;
  void CleanUp() const;

  FileSystem* files_;
  std::string folder_;
  bool made_folder_ = false;
  bool published_ = false;
  std::unique_ptr<FileLock> lock_;
  Manifest current_;
  int64_t first_generation_ = 0, generation_ = 0;  // of this change
};

// Changes a memory that must be there: body(change) writes and publishes.
template <class Body>
Status ChangeMemory(FileSystem& files, const std::string& path, const ChangeOptions& options,
                    const Body& body) {
  RESMEM_ASSIGN_OR_RETURN(
      const std::unique_ptr<FolderChange> change,
      FolderChange::Begin(files, path, FolderChange::Start::kExisting, options));
  return change->Try([&] { return body(change.get()); });
}

}  // namespace resmem

#endif  // RESMEM_MEMORY_MANIFEST_FOLDER_CHANGE_H_
