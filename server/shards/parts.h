// What a gateway asks a shard, and what the shard answers: the nearest of its rows, and those rows.
// Bytes, little endian:
//
//   question  "resmemQ1"  queries  dim  k                  8-byte integers
//             keys                                         floats, queries x dim
//   answer    "resmemA2"  queries  k  rows  header hash    8-byte integers
//             rows of the shard, not the deleted ones      8-byte integer
//             squared distances                            doubles, queries x k
//             row numbers of the shard, -1 for none        8-byte integers, queries x k
//             the rows found, each once, by their numbers: a segment of a memory
#ifndef RESMEM_SERVER_SHARDS_PARTS_H_
#define RESMEM_SERVER_SHARDS_PARTS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "resmem/knn_index.h"
#include "resmem_program/row_parts.h"

namespace resmem::serve {

struct PartsQuestion {
  int64_t queries = 0, dim = 0, k = 0;
  std::vector<float> keys;

  MatrixView view() const { return {keys.data(), queries, dim}; }
};
std::string WritePartsQuestion(MatrixView keys, int64_t k);
// Errors: kBadData.
Result<PartsQuestion> ReadPartsQuestion(std::string_view body);

struct PartsAnswer {
  Neighbors found;            // rows are numbered as in `part`
  int64_t living = 0;         // rows of the shard
  std::vector<int64_t> rows;  // of the shard, ascending: row i of `part`
  RowPart part;               // none where nothing was found; owns the body
};
// Searches the memory.  Errors: those of the search and of CopyRows().
Result<std::string> MakePartsAnswer(const ResidualMemory& memory, const PartsQuestion& question,
                                    int threads);
// `shard_rows`: that the shard has.  Everything that a hostile shard could write is checked, but
// for the segment, which OpenRowParts() checks.  Errors: kBadData.
Result<PartsAnswer> ReadPartsAnswer(std::string body, int64_t queries, int64_t k,
                                    int64_t shard_rows);

}  // namespace resmem::serve

#endif  // RESMEM_SERVER_SHARDS_PARTS_H_
