// Rows that are asked as a client would ask them: members of the memory, or held-out rows.
#ifndef RESMEM_EVAL_PRIVACY_ASKED_ROWS_H_
#define RESMEM_EVAL_PRIVACY_ASKED_ROWS_H_

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "resmem/privacy.h"

namespace resmem {

struct AskedRows {
  MatrixView keys, logits;
  std::span<const int32_t> labels;
  std::span<const int64_t> self;  // the memory's row that each is; empty: held out

  int64_t count() const { return keys.rows; }
};
using UseRows = std::function<Status(const AskedRows&)>;

// Rows asked at once: few where there are many classes.
int64_t RowsAtOnce(const ResidualMemory& memory);

// Living rows of the memory, by the seed; ascending.
std::vector<int64_t> ChooseMembers(const ResidualMemory& memory, int64_t most, uint64_t seed);

// Calls use() for the members in order, in pieces.
Status ReadMembers(const ResidualMemory& memory, std::span<const int64_t> rows, const UseRows& use);
Status ReadHeldOut(const ResidualMemory& memory, const RowSource& rows, const UseRows& use);

// Each query's first k neighbors but for its own row; `from` holds k + 1.
Neighbors WithoutSelf(const Neighbors& from, std::span<const int64_t> self, int64_t k);

// Progress of one step; kCancelled where the user asked to stop.
Status Report(const PrivacyOptions& options, const char* step, int64_t done, int64_t all);

}  // namespace resmem

#endif  // RESMEM_EVAL_PRIVACY_ASKED_ROWS_H_
