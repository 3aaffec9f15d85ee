// Judges predictions of one task, piece by piece; Evaluate() feeds it.
#ifndef RESMEM_EVAL_JUDGE_H_
#define RESMEM_EVAL_JUDGE_H_

#include <cstdint>

#include "eval/answers/row_block.h"

namespace resmem {

class Judge {
 public:
  virtual ~Judge() = default;
  // Rows [begin, begin + count) of the block, with their neighbors.
  virtual Status Add(const RowBlock& block, int64_t begin, int64_t count,
                     const Neighbors& neighbors) = 0;
  // Writes this task's part.
  virtual void Finish(Evaluation* evaluation) const = 0;
};

}  // namespace resmem

#endif  // RESMEM_EVAL_JUDGE_H_
