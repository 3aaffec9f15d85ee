// What a user could have had instead of ResMem, fitted by Tune() on the same held-out rows and by
// the same objective, so that Evaluate() compares like with like.  Kept with the trace of tuning.
#ifndef RESMEM_RIVALS_H_
#define RESMEM_RIVALS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "resmem/residual_memory.h"

namespace resmem {

// The base itself, with something fitted on the held-out rows.
enum class Refit { kNone, kTemperature, kLastLayer };

struct Rivals {
  // The parameters of k-NN, and of kNN-LM with its weight.
  struct NeighborRival {
    int64_t k = 0;
    float sigma = 1, lambda = 1;
  };
  std::optional<NeighborRival> knn, knn_lm;
  // softmax(f / T).
  std::optional<float> temperature;
  // The base's last layer fitted once more: softmax(scale f + W z + offset), z the key as given.
  // None above kMostWeights: for many classes it is another model, and not a small one.
  struct LastLayer {
    static constexpr int64_t kMostWeights = 1 << 15;
    float scale = 1;
    std::vector<float> offset, weights;  // classes; dim x classes
  };
  std::optional<LastLayer> last_layer;
};

// Those of the last tuning; none where the memory was not tuned, or by an older program.
std::optional<Rivals> RivalsOf(const MemoryDescription& description);

}  // namespace resmem

#endif  // RESMEM_RIVALS_H_
