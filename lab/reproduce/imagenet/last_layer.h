// What could be had without a memory: the network's last layer fitted once more, on the rows that
// the memory would hold.
#ifndef RESMEM_LAB_REPRODUCE_IMAGENET_LAST_LAYER_H_
#define RESMEM_LAB_REPRODUCE_IMAGENET_LAST_LAYER_H_

#include "reproduce/embedded.h"
#include "reproduce/json.h"
#include "resmem/progress.h"

namespace resmem::cli::reproduce::imagenet {

// softmax(f + W z / scale + b): f the network's own logits, z its key.
struct LastLayer {
  float scale = 1;             // root of the mean square length of the keys
  std::vector<float> weights;  // dim x classes
  std::vector<float> offset;   // classes
  Json chosen = Json::object();

  // The same rows with the logits of the new layer.
  Embedded Apply(Embedded rows, int threads) const;
};
struct LastLayerOptions {
  std::vector<double> rates = {0.3, 1, 3};
  int64_t epochs = 12;
  int64_t batch = 256;
  uint64_t seed = 1;
  int threads = 0;
  Progress* progress = nullptr;
};
// Stochastic gradient descent on the cross-entropy of `learn`, from the network's own layer on; the
// rate and the epoch are those of the lowest NLL on `held_out`.  Where none is below that of the
// layer as it is, that one is kept (epoch 0).  kCancelled.
Result<LastLayer> FitLastLayer(const Embedded& learn, const Embedded& held_out,
                               const LastLayerOptions& options);

}  // namespace resmem::cli::reproduce::imagenet

#endif  // RESMEM_LAB_REPRODUCE_IMAGENET_LAST_LAYER_H_
