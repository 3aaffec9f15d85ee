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
#include <string_view>
#include <vector>

#include "resmem/status.h"

namespace resmem::serve {

// Of rows whose labels a person gave: what the base and the memory had said before.
struct Feedback {
  int64_t both_right = 0, both_wrong = 0, fixed = 0, harmed = 0;

  int64_t rows() const { return both_right + both_wrong + fixed + harmed; }
};

struct Edit {
  // kRelabel: rows are forgotten and learned again under their ids.
  enum class Kind { kLearn, kForget, kRelabel };
  enum class Outcome { kOpen, kDone, kFailed };

  int64_t number = 0;  // from 1
  Kind kind = Kind::kLearn;
  Outcome outcome = Outcome::kOpen;
  std::string time, who, request;
  std::string token;  // the client's name of this edit
  std::vector<uint64_t> ids;
  int64_t undoes = 0;     // the edit that this one takes back
  int64_t undone_by = 0;  // and the other way round
  Feedback feedback;      // a correction's
  bool kept = false;      // forget, relabel: the rows as they were are in a file, to undo it

  bool undoable() const {
    return outcome == Outcome::kDone && undone_by == 0 && (kind == Kind::kLearn || kept);
  }
};
const char* KindName(Edit::Kind kind);  // "learn"
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
  // edit.  A line is never added to the half of another: where writing fails, that is cut off.
  Status Open();
  // The edits of which it is not known how they ended: a crash came between.
  std::vector<Edit> OpenEdits() const;

  int64_t next_number() const { return next_; }
  // Synced.  `rows`: of each edit, what it removes as JSON; "" for none.  After an error the file
  // is as it was before.
  Status Begin(std::vector<Edit> edits, const std::vector<std::string>& rows);
  // Not synced: after a crash it is found out again.  After an error it is written with the next
  // edit.
  Status End(int64_t number, bool done);
  Result<std::string> ReadRows(int64_t number) const;
  void ForgetRows(int64_t number);
  // Of every edit that removed any of these: nothing of them is kept then, and none of the edits
  // can be undone.
  void ForgetRowsWith(const std::vector<uint64_t>& ids);

  // Newest first, below number `before`.
  std::vector<Edit> History(int64_t before, size_t most) const;
  std::optional<Edit> Find(int64_t number) const;
  std::optional<Edit> FindToken(const std::string& token) const;

 private:
  std::string RowsPath(int64_t number) const;
  Status Prepare();
  bool Apply(const std::string& line);  // false: it is no line of a journal
  Status CutTornLine();
  Status Write(std::string_view lines, bool sync);
  void Remember(Edit edit);
  Edit* At(int64_t number);

  const std::string folder_;
  int file_ = -1;
  int64_t torn_at_ = -1;   // where half a line begins that could not be cut off
  std::string unwritten_;  // how edits ended, of which the line could not be written
  int64_t next_ = 1;
  mutable std::mutex mutex_;
  std::deque<Edit> edits_;  // numbers ascend without gaps
  std::map<std::string, int64_t> tokens_;
};

}  // namespace resmem::serve

#endif  // RESMEM_SERVER_MEMORIES_JOURNAL_H_
