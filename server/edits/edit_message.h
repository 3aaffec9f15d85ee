// An edit as it stands in the stream, as JSON:
//
//   {"resmem": 1, "kind": "learn", "time": ..., "who": ..., "token": ..., "rows": {...}}
//   {..., "kind": "forget", "ids": [...]}
//   {..., "kind": "relabel", "ids": [...], "labels": [...]}
//
// What it does to a shard depends on the edits before it and on nothing else:
//
//   - Rows without ids get them from their place in the stream: StreamedId().
//   - A new row is OwnerOf() its id's.
//   - A row that is learned under an id that there is takes the place of that row.
//   - Rows that a shard does not have are not its to forget or relabel.
//   - An edit whose token an earlier one had (of the latest StreamPosition::kMostNames) does
//   nothing.
#ifndef RESMEM_SERVER_EDITS_EDIT_MESSAGE_H_
#define RESMEM_SERVER_EDITS_EDIT_MESSAGE_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "memories/journal.h"
#include "memories/row_set.h"

namespace resmem::serve {

// Ids from here on are the stream's to give; numbers that JSON keeps whole for 2^41 edits.
inline constexpr uint64_t kFirstStreamedId = uint64_t{1} << 40;
inline constexpr int64_t kMostStreamedRows = 4096;  // of an edit

uint64_t StreamedId(int64_t sequence, int64_t row);
// From 1 to `shards`.
int64_t OwnerOf(uint64_t id, int64_t shards);

struct EditMessage {
  Edit::Kind kind = Edit::Kind::kLearn;
  RowSet rows;                // kLearn; kRelabel: its labels
  std::vector<uint64_t> ids;  // kForget, kRelabel
  std::string time, who, token;
};
std::string WriteEditMessage(const EditMessage& edit);
// Errors: kBadData, also where rows are not like the memory's.
Result<EditMessage> ReadEditMessage(std::string_view text, const MemoryState& state);

// What several edits together do to a shard.
class EditFold {
 public:
  EditFold(const MemoryState& state, int64_t shard, int64_t shards)
      : state_(state), shard_(shard), shards_(shards) {}

  // Whether the edit must wait until those before it are in the memory: it relabels a row of
  // theirs, which is rounded when it is stored, and every replica must round alike.
  bool MustWait(const EditMessage& edit) const;
  // Errors, after which the fold is of no use: kUnsupported (no logits to relabel), and those of
  // reading the memory.
  Status Add(int64_t sequence, const EditMessage& edit);

  RowSet learn() const;  // in the order of the edits
  std::vector<uint64_t> forget() const;

 private:
  bool Holds(uint64_t id) const;
  void Remove(uint64_t id);
  void Put(const RowSet& rows, int64_t row, uint64_t id);
  Status Relabel(uint64_t id, int32_t label);  // of the memory's row

  const MemoryState& state_;
  const int64_t shard_, shards_;
  std::vector<RowSet> learned_;            // of one row each; of none: removed again
  std::map<uint64_t, size_t> learned_at_;  // by id
  std::set<uint64_t> forgotten_;           // of the memory's rows
};

}  // namespace resmem::serve

#endif  // RESMEM_SERVER_EDITS_EDIT_MESSAGE_H_
