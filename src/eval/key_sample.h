// Keys of some rows among many that are read block by block.
#ifndef RESMEM_EVAL_KEY_SAMPLE_H_
#define RESMEM_EVAL_KEY_SAMPLE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "resmem/evaluation.h"
#include "support/random.h"

namespace resmem {

// Each row that was added is as likely to be kept as the others; the same rows in the same order
// and the same seed give the same sample, however they were cut into blocks.
class KeySample {
 public:
  // `only`: of the rows added, those of this role; none: all.
  KeySample(int64_t most, std::optional<Role> only, uint64_t seed)
      : most_(most), only_(only), random_(seed) {}

  void Add(const Rows& rows);
  MatrixView keys() const;
  std::vector<float> Take() { return std::move(keys_); }

 private:
  int64_t most_;
  std::optional<Role> only_;
  Random random_;
  int64_t seen_ = 0, dim_ = 0;
  std::vector<float> keys_;
};

}  // namespace resmem

#endif  // RESMEM_EVAL_KEY_SAMPLE_H_
