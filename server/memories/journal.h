// The history of a memory's edits, in a folder beside it: NAME.resmem.edits.
//
//   journal.jsonl    a line an edit before it is made, and one when it is known how it ended
//   rows-12.json     what edit 12 removed, so that it can be undone
//
// A line is on disk before the memory is changed.  After a crash the memory itself tells which of
// the last edits were made; docs/decisions/service.md.
#ifndef RESMEM_SERVER_MEMORIES_JOURNAL_H_
#define RESMEM_SERVER_MEMORIES_JOURNAL_H_

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "resmem/status.h"

namespace resmem::serve {

struct Edit {
  enum class Kind { kLearn, kForget };
  enum class Outcome { kOpen, kDone, kFailed };

  int64_t number = 0;  // from 1
  Kind kind = Kind::kLearn;
  Outcome outcome = Outcome::kOpen;
  std::string time, who, request;
  std::string token;  // the client's name of this edit
  std::vector<uint64_t> ids;
  int64_t undoes = 0;     // the edit that this one takes back
  int64_t undone_by = 0;  // and the other way round
  bool kept = false;      // forget: the rows are in a file, so that it can be undone

  bool undoable() const {
    return outcome == Outcome::kDone && undone_by == 0 && (kind == Kind::kLearn || kept);
  }
};
std::string EditJson(const Edit& edit);

// History() and Find() from any thread, the rest by one.
class Journal {
 public:
  static constexpr size_t kMostEdits = 10'000;  // that are remembered

  explicit Journal(std::string folder) : folder_(std::move(folder)) {}
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // Reads what is there; a last line that was cut off is dropped.  Nothing is made before the first
  // edit.
  Status Open();
  // The edits of which it is not known how they ended: a crash came between.
  std::vector<Edit> OpenEdits() const;

  int64_t next_number() const { return next_; }
  // Synced.  `rows`: of each edit, what it removes as JSON; "" for none.
  Status Begin(std::vector<Edit> edits, const std::vector<std::string>& rows);
  // Not synced: after a crash it is found out again.
  Status End(int64_t number, bool done);
  Result<std::string> ReadRows(int64_t number) const;
  void ForgetRows(int64_t number);

  // Newest first, below number `before`.
  std::vector<Edit> History(int64_t before, size_t most) const;
  std::optional<Edit> Find(int64_t number) const;
  std::optional<Edit> FindToken(const std::string& token) const;

 private:
  std::string RowsPath(int64_t number) const;
  Status Prepare();
  void Apply(const std::string& line);
  void Remember(Edit edit);
  Edit* At(int64_t number);

  const std::string folder_;
  int file_ = -1;
  int64_t next_ = 1;
  mutable std::mutex mutex_;
  std::deque<Edit> edits_;  // numbers ascend without gaps
  std::map<std::string, int64_t> tokens_;
};

}  // namespace resmem::serve

#endif  // RESMEM_SERVER_MEMORIES_JOURNAL_H_
