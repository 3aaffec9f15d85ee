// One block of rows ready to be judged: of the role asked for, fitting the memory, and in
// leave-one-out each with the memory row that it is itself.
#ifndef RESMEM_EVAL_ANSWERS_ROW_BLOCK_H_
#define RESMEM_EVAL_ANSWERS_ROW_BLOCK_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "resmem/evaluation.h"

namespace resmem {

class RowBlock {
 public:
  // `begin`: number of the block's first row in its source.  Without `only` nothing is copied.
  // Errors: kBadData (shapes, no labels, a label outside the classes; in leave-one-out without ids
  // a row that is not the memory's), kNotFound (an id).
  Status Load(const ResidualMemory& memory, int64_t begin, const Rows& block,
              std::optional<Role> only, bool leave_one_out);

  const Rows& rows() const { return rows_; }
  // Number of row i in the source.
  int64_t number(int64_t i) const {
    return numbers_.empty() ? begin_ + i : numbers_[static_cast<size_t>(i)];
  }
  std::span<const int64_t> exclude() const { return exclude_; }  // empty: nothing

 private:
  void Gather(const Rows& block, Role only);
  Status FindSelf(const ResidualMemory& memory);
  // Row i, known by its number only, must be the memory's row: same answer, same key as stored.
  Status CheckSelf(const ResidualMemory& memory, int64_t i, int64_t row);

  int64_t begin_ = 0;
  Rows rows_;
  std::vector<int64_t> numbers_, exclude_;
  // What Gather() copied.
  std::vector<float> keys_, logits_, targets_;
  std::vector<int32_t> labels_;
  std::vector<uint64_t> ids_;
  std::vector<Role> roles_;
  std::vector<std::string> slices_;
  std::vector<float> stored_key_;  // scratch of CheckSelf()
};

}  // namespace resmem

#endif  // RESMEM_EVAL_ANSWERS_ROW_BLOCK_H_
