// Changes a memory while it is served: learn, forget, relabel, undo.
//
// A thread of its own takes all edits that wait, writes them to the journal, adds all rows in one
// append and deletes in one delete, opens the new state, publishes it, and only then answers: an
// edit that was answered is on disk and in the next answer.  Edits that wait together are
// concurrent, so their order is ours to choose.
//
// So that a stream of edits does not take the processor from the readers, the thread rests after a
// commit nineteen times as long as that kept a processor busy, one second at most.
#ifndef RESMEM_SERVER_MEMORIES_EDITOR_H_
#define RESMEM_SERVER_MEMORIES_EDITOR_H_

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "memories/journal.h"
#include "memories/row_set.h"
#include "memories/served_memory.h"
#include "resmem/snapshots.h"

namespace resmem::serve {

struct EditResult {
  Edit edit;
  int64_t rows = 0;       // of the memory afterwards
  int64_t state = 0;      // the state that has it
  bool repeated = false;  // by its token: made before
  // Rows that it removed and that the memory's snapshots hold still.
  std::vector<SnapshotRows> in_snapshots{};
};

struct EditRequest {
  using Done = std::function<void(Result<EditResult>)>;

  enum class Kind { kLearn, kForget, kRelabel, kUndo };
  Kind kind = Kind::kLearn;
  RowSet rows;                // kLearn; kRelabel: its labels
  std::vector<uint64_t> ids;  // kForget, kRelabel
  bool keep = true;           // kForget: so that it can be undone
  int64_t undo = 0;           // kUndo: the edit's number
  std::string who, request, token;
  Feedback feedback{};  // kLearn: counted once, when the edit is made
  bool again = false;   // tried once, with ids that turned out to be taken
  Done done;
};

struct EditorLimits {
  int64_t waiting = 1024;
  std::chrono::milliseconds longest_rest{1000};
  int64_t kept_forgets = 1000;   // whose rows are kept for undo
  int64_t compact_above = 1024;  // deleted rows, and a fifth of all
};

class Editor {
 public:
  Editor(ServedMemory* memory, const EditorLimits& limits);
  ~Editor();

  // Reads the journal, finds out how the edits before a crash ended, counts their feedback again,
  // and begins to work.  The memory must be loaded.
  Status Start();
  // Every edit that waits is made first.
  void Stop();

  // False: too many wait; the request is untouched.
  bool Submit(EditRequest&& request);
  int64_t waiting() const;
  const Journal& journal() const { return journal_; }

 private:
  struct Plan;  // an edit that is going to be made

  void Run();
  void Commit(std::vector<EditRequest> requests);
  Result<Plan> Prepare(EditRequest* request, const MemoryState& state);
  Result<Plan> PrepareUndo(EditRequest* request, const MemoryState& state);
  void Apply(std::vector<Plan>* plans);
  void Relabel(Plan* plan);
  Status AppendRows(const RowSet& rows);
  Status AppendAll(std::vector<Plan*> plans);
  Status DeleteAll(std::vector<Plan*> plans);
  Status Settle(const Edit& edit);
  Result<RowSet> ReadKeptRows(int64_t number, const MemoryState& state) const;
  Status SettleAll();
  Status OpenState(int64_t expected, std::shared_ptr<const MemoryState>* state);
  void Answer(std::vector<Plan>* plans, const std::shared_ptr<const MemoryState>& state,
              std::vector<EditRequest>* later);
  void FindNextId(const MemoryState& state);
  void DropOldRows();
  void CompactIfWorth();

  ServedMemory* const memory_;
  const EditorLimits limits_;
  Journal journal_;
  std::optional<uint64_t> next_id_;  // none: the memory's ids end at the largest number
  int64_t known_state_ = 0;          // the one that next_id_ was found in
  std::deque<int64_t> kept_;         // forgets whose rows are kept, the oldest first
  bool compact_now_ = false;
  bool unsettled_ = false;  // an edit failed in its middle

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<EditRequest> requests_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace resmem::serve

#endif  // RESMEM_SERVER_MEMORIES_EDITOR_H_
