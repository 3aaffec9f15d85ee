// A base network: images or table rows in, embedding and logits out, and the same as ONNX.
#ifndef RESMEM_LAB_TRAIN_NETWORKS_NETWORK_H_
#define RESMEM_LAB_TRAIN_NETWORKS_NETWORK_H_

#include <torch/torch.h>

#include <memory>
#include <string>
#include <vector>

#include "resmem/status.h"
#include "train/onnx_graph.h"

namespace resmem::train {

struct InputShape {
  int64_t channels = 0, height = 0, width = 0;  // an image; height 0: a row of `channels` columns
};

class Network : public torch::nn::Module {
 public:
  struct Outputs {
    torch::Tensor embedding, logits;
  };
  virtual Outputs Forward(torch::Tensor x) = 0;
  virtual int64_t dim() const = 0;  // of the embedding
  // Adds the network from `x` to its two outputs, batch norms folded into the layers before them.
  virtual void Export(OnnxGraph& graph, std::string x) const = 0;

  // From now on training computes in bf16 on tiles; false: this network cannot.
  virtual bool UseTiles(int /*threads*/) { return false; }

  int64_t ParameterCount() const;
};

inline constexpr char kInputName[] = "input";
inline constexpr char kEmbeddingName[] = "embedding";
inline constexpr char kLogitsName[] = "logits";

// By its name in a recipe; first weights from libtorch's generator (torch::manual_seed).
// kInvalidArgument lists the names.
Result<std::shared_ptr<Network>> MakeNetwork(const std::string& name, const InputShape& input,
                                             int64_t classes);

// The families behind MakeNetwork().
std::shared_ptr<Network> MakeResNet(int64_t depth, const InputShape& input, int64_t classes);
std::shared_ptr<Network> MakeMobileNet(double width, const InputShape& input, int64_t classes);
// `hidden` empty: a linear model, whose embedding is its input.
std::shared_ptr<Network> MakePerceptron(const std::vector<int64_t>& hidden, const InputShape& input,
                                        int64_t classes);

}  // namespace resmem::train

#endif  // RESMEM_LAB_TRAIN_NETWORKS_NETWORK_H_
