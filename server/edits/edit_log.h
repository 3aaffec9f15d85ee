// The stream of edits of a memory that is served from replicas: NATS JetStream, which keeps it on
// several nodes (Raft).  An edit has a number, its sequence, from 1 on without gaps.
//
// A reader asks for the edit of one number and gets that or none, so that edits cannot come in
// another order.  A message on the subject is a hint only that there is something new.
//
// Methods may be called from any number of threads.
#ifndef RESMEM_SERVER_EDITS_EDIT_LOG_H_
#define RESMEM_SERVER_EDITS_EDIT_LOG_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "resmem/status.h"

namespace resmem::serve {

struct EditLogState {
  int64_t created = 0;          // nanoseconds since 1970
  int64_t first = 0, last = 0;  // sequences; first is last + 1 where it is empty
};

struct Published {
  int64_t sequence = 0;
  bool repeated = false;  // the stream had an edit of this id
};

class EditLog {
 public:
  // For so long the stream knows an edit's id.
  static constexpr std::chrono::hours kKnownFor{1};

  // `memory`: whose edits; letters, digits, - and _.  Does not wait for a node: it connects in the
  // background, again and again.  `changed` is called by another thread when there may be news.
  // Errors: kInvalidArgument (addresses), kUnsupported (built without libnats).
  static Result<std::unique_ptr<EditLog>> Open(const std::vector<std::string>& addresses,
                                               const std::string& memory,
                                               std::function<void()> changed);
  virtual ~EditLog() = default;

  virtual const std::string& stream() const = 0;
  virtual bool connected() const = 0;
  // The errors of these: kResourceExhausted where no node, or no majority of them, answers.
  // State(): kNotFound where there is no stream of the name.
  virtual Result<EditLogState> State() = 0;
  // None where the stream has no such edit: not yet, or not any more.
  virtual Result<std::optional<std::string>> Read(int64_t sequence) = 0;
  // Returns when a majority of the nodes has it.  `*unknown`: after an error, whether the stream
  // may have it all the same.
  virtual Result<Published> Publish(const std::string& id, const std::string& edit,
                                    std::chrono::milliseconds deadline, bool* unknown) = 0;
  virtual Status Create(int64_t replicas) = 0;
};

}  // namespace resmem::serve

#endif  // RESMEM_SERVER_EDITS_EDIT_LOG_H_
