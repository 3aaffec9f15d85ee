// Rows that came over the wire or go to a journal: as Rows, but owned.
#ifndef RESMEM_SERVER_MEMORIES_ROW_SET_H_
#define RESMEM_SERVER_MEMORIES_ROW_SET_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "memories/answer.h"
#include "protocol/json_value.h"
#include "resmem/rows.h"

namespace resmem::serve {

struct RowSet {
  int64_t rows = 0, dim = 0, outputs = 0;
  std::vector<float> keys, logits, targets;
  std::vector<int32_t> labels;
  std::vector<uint64_t> ids;         // empty: to be numbered
  std::vector<std::string> sources;  // empty: none
  std::vector<std::string> tags;     // empty: none

  MatrixView key_view() const { return {keys.data(), rows, dim}; }
  MatrixView logit_view() const { return {logits.data(), rows, outputs}; }
  Rows View() const;
  void Append(const RowSet& other);
};

// {"keys": [[...]], "logits": [[...]], "labels": [...] or "targets": [[...]], "ids", "sources",
// "tags"}; one row may stand without the outer brackets, and a label may be a class's name.
// `labelled`: labels or targets must be there.  Errors: kBadData with the member.
Result<RowSet> ReadRowSet(const JsonValue& object, const MemoryState& state, bool labelled,
                          int64_t most_rows);
// As ReadRowSet() reads it, bit for bit.
std::string WriteRowSet(const RowSet& set);

// Rows of the memory.  Errors: kNotFound with the id; kUnsupported where it keeps no logits.
Result<RowSet> CopyRows(const MemoryState& state, std::span<const uint64_t> ids);

// "labels", a list, or "label": of as many rows as the set has; numbers or names of classes.
Status ReadLabels(const JsonValue& object, const MemoryState& state, RowSet* set);

// A list of whole numbers from 0 on.
Result<std::vector<uint64_t>> ReadIds(const JsonValue& object, const char* member,
                                      int64_t most_rows);

}  // namespace resmem::serve

#endif  // RESMEM_SERVER_MEMORIES_ROW_SET_H_
