// What the rivals say about one row, at the parameters that were tuned for them.
#ifndef RESMEM_EVAL_ANSWERS_RIVAL_ANSWERS_H_
#define RESMEM_EVAL_ANSWERS_RIVAL_ANSWERS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "predict/correction.h"
#include "resmem/rivals.h"

namespace resmem {

// (1 - lambda) softmax(f) + lambda p_knn; at lambda 1, k-NN.  Scratch of one thread.
class NeighborMixture {
 public:
  NeighborMixture(const ResidualMemory& memory, const Parameters& parameters)
      : correction_(memory),
        parameters_(parameters),
        labels_(static_cast<size_t>(memory.description().outputs)) {}

  // `base`: softmax(f).  `out` may hold anything.
  void Answer(std::span<const int64_t> rows, std::span<const float> distances,
              std::span<const float> base, float lambda, std::span<float> out);

 private:
  Correction correction_;
  Parameters parameters_;
  std::vector<float> labels_;
};

// softmax(scale f + W z + offset).
void AnswerByLastLayer(const Rivals::LastLayer& layer, std::span<const float> key,
                       std::span<const float> logits, std::span<float> out);

}  // namespace resmem

#endif  // RESMEM_EVAL_ANSWERS_RIVAL_ANSWERS_H_
