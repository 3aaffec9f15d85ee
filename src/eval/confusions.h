// Which class is taken for which, by the base and with the memory.
#ifndef RESMEM_EVAL_CONFUSIONS_H_
#define RESMEM_EVAL_CONFUSIONS_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "resmem/evaluation.h"

namespace resmem {

class ConfusionCounts {
 public:
  // One row; right answers count for nothing here.
  void Add(int32_t label, int32_t base, int32_t resmem);
  // The most frequent, base and ResMem together; ties by label, then by answer.  Classes are named
  // as `classes` has them.
  std::vector<Confusion> Most(size_t most, const std::vector<GroupResult>& classes) const;

 private:
  struct Times {
    int64_t base = 0, resmem = 0;
  };
  std::map<std::pair<int32_t, int32_t>, Times> times_;  // by label and answer
};

}  // namespace resmem

#endif  // RESMEM_EVAL_CONFUSIONS_H_
