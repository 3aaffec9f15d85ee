// Applies the stream of edits to a shard, in order, each exactly once: the memory's manifest says
// which was the last (resmem_program/edit_stream.h).
//
// A thread of its own reads what is new, makes it one change on disk, opens the new state and
// publishes it.  Readers never wait for it.  Where the stream cannot be reached it tries again.
// Where it no longer has the next edit, or is another stream, it cannot go on: stuck() says why and
// what to do.
#ifndef RESMEM_SERVER_EDITS_FOLLOWER_H_
#define RESMEM_SERVER_EDITS_FOLLOWER_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "edits/edit_log.h"
#include "edits/edit_message.h"
#include "memories/editor.h"
#include "memories/served_memory.h"
#include "resmem_program/edit_stream.h"

namespace resmem::serve {

struct FollowerCounters {
  bool connected = false;
  int64_t sequence = 0;  // the last edit that is in the answers
  int64_t last = 0;      // of the stream, as far as it was heard of
  int64_t refused = 0;   // edits that the memory cannot take
};

class Follower {
 public:
  // Connects.  Errors: those of EditLog::Open().
  static Result<std::unique_ptr<Follower>> Make(ServedMemory* memory, const EditorLimits& limits);
  ~Follower();

  // The memory must be loaded.  Errors: kUnsupported, kMismatch: this memory cannot follow.
  Status Check();
  void Start();
  void Stop();
  FollowerCounters counters() const;
  std::string stuck() const;  // "" where it can go on

 private:
  Follower(ServedMemory* memory, const EditorLimits& limits) : memory_(memory), limits_(limits) {}

  using State = std::shared_ptr<const MemoryState>;
  struct Batch {
    int64_t from = 0;  // after which
    std::vector<std::string> edits;
  };

  void Wake();  // there may be something new
  void Run();
  // Applies what is there; `*made`: anything.
  Status Step(bool* made);
  StreamPosition PositionIn(const MemoryState& state) const;
  // Why the stream cannot be followed from here.
  Status CheckStream(const StreamPosition& at, const EditLogState& log) const;
  Result<Batch> ReadBatch(int64_t after, int64_t last);
  Status Apply(const State& state, const StreamPosition& at, const Batch& batch);
  // `refuse`: the first edit alone, which changes nothing.
  Status ApplyAs(const State& state, StreamPosition at, const Batch& batch, bool refuse);
  Status OpenState();
  void CompactIfWorth();
  void Tell(const Status& status);

  ServedMemory* const memory_;
  const EditorLimits limits_;
  std::string seed_;  // of a memory that has no position yet
  Status told_;       // in the log

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  FollowerCounters counters_;
  std::string stuck_;
  bool news_ = false, stopping_ = false;
  std::thread thread_;
  std::unique_ptr<EditLog> log_;  // the last, as it calls Wake()
};

}  // namespace resmem::serve

#endif  // RESMEM_SERVER_EDITS_FOLLOWER_H_
