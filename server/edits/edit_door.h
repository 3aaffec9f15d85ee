// Where edits of a memory in shards come in: a gateway's way to the stream that the shards'
// replicas follow.  An edit is checked, also by the shards, for what they have at that moment; it
// is answered when the stream has it, and is in the answers a little later.
#ifndef RESMEM_SERVER_EDITS_EDIT_DOOR_H_
#define RESMEM_SERVER_EDITS_EDIT_DOOR_H_

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "edits/edit_log.h"
#include "edits/edit_message.h"
#include "memories/editor.h"

namespace resmem::serve {

class EditDoor {
 public:
  EditDoor(std::unique_ptr<EditLog> log, int64_t stream_replicas)
      : log_(std::move(log)), stream_replicas_(stream_replicas) {}

  // Waits for the stream, and calls `request.done`.  `state`: of the gateway.
  void Submit(const MemoryState& state, EditRequest request);

  bool connected() const { return log_->connected(); }
  int64_t last() const { return last_; }  // sequence that this gateway was given

 private:
  // What the shards say of an edit that has not been made.
  struct Held {
    std::vector<uint64_t> ids;  // that a shard has
    int64_t named_as = 0;       // the sequence of an edit of this token; 0 for none
    int64_t sequence = 0;       // the least that a shard has applied
    int64_t created = 0;        // the stream that the shards follow; 0 for none yet
  };
  Result<Held> AskShards(const MemoryState& state, const EditRequest& request, int64_t after) const;
  static Status CheckHeld(const EditRequest& request, const Held& held);
  // The stream, made where nobody has ever edited.
  Status CheckStream(const Held& held) const;
  Result<EditResult> Make(const MemoryState& state, EditRequest* request);

  const std::unique_ptr<EditLog> log_;
  const int64_t stream_replicas_;
  std::atomic<int64_t> last_{0};
};

// A shard's answer to {"ids": [...], "token": ..., "after": N}: which of the rows it has.
// kResourceExhausted where it has not come to edit N yet.
Result<std::string> AnswerHeld(const MemoryState& state, const JsonValue& question);

}  // namespace resmem::serve

#endif  // RESMEM_SERVER_EDITS_EDIT_DOOR_H_
