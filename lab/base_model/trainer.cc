#include "base_model/trainer.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base_model/backpropagation.h"
#include "support/checked_math.h"
#include "support/parallel.h"
#include "support/random.h"
#include "support/text.h"

namespace resmem {
namespace {

// Every step is cut into the same pieces for any number of threads: first by rows of the batch,
// then by rows of the weights, whose gradients are sums over the whole batch.  No value is ever
// a sum of two pieces.
constexpr int64_t kRowsAShare = 32;
constexpr int64_t kWeightRowsAPiece = 64;

constexpr int64_t kMaxParameters = int64_t{1} << 28;  // and values of a batch: 1 GiB each

void Initialize(uint64_t seed, Network* network) {
  // He's deviation for the layer before ReLU; the last one starts at 0, all classes alike.
  for (size_t l = 0; l + 1 < network->layers.size(); ++l) {
    Random random(seed, l);
    Layer& layer = network->layers[l];
    const double deviation = std::sqrt(2.0 / static_cast<double>(layer.inputs));
    for (float& weight : layer.weights) weight = static_cast<float>(deviation * random.Normal());
  }
}

class Trainer {
 public:
  // `batch`: rows of the largest step.
  Trainer(MatrixView inputs, std::span<const int32_t> labels, int64_t batch,
          const BaseModelOptions& options, Network* network)
      : inputs_(inputs),
        labels_(labels),
        options_(options),
        network_(*network),
        velocity_(*network),
        values_(*network, batch),
        deltas_(*network, batch),
        batch_labels_(static_cast<size_t>(batch)),
        losses_(static_cast<size_t>(batch)),
        transposed_(network->layers.size()) {
    for (Layer& layer : velocity_.layers) {
      std::fill(layer.weights.begin(), layer.weights.end(), 0.0f);
      std::fill(layer.bias.begin(), layer.bias.end(), 0.0f);
    }
    int64_t most_outputs = 0;
    for (const Layer& layer : network->layers) most_outputs = std::max(most_outputs, layer.outputs);
    gradients_.resize(static_cast<size_t>(ResolveThreads(options.threads)));
    for (auto& gradient : gradients_) {
      gradient.resize(static_cast<size_t>(kWeightRowsAPiece * most_outputs));
    }
  }

  // One step on the rows of a batch; returns the sum of their losses.
  double Step(std::span<const int64_t> batch, float rate) {
    const int64_t rows = static_cast<int64_t>(batch.size());
    for (size_t l = 1; l < network_.layers.size(); ++l) {
      transposed_[l] = Transposed(network_.layers[l]);
    }
    ParallelFor(options_.threads, rows, kRowsAShare, [&](int64_t begin, int64_t end, int) {
      for (int64_t row = begin; row < end; ++row) {
        network_.standardizer.Apply(inputs_.row(batch[row]),
                                    &values_.values[0][row * network_.inputs()]);
        batch_labels_[row] = labels_[batch[row]];
      }
      Forward(network_, begin, end - begin, &values_);
      Backward(network_, transposed_, values_, batch_labels_, 1.0f / static_cast<float>(rows),
               begin, end - begin, &deltas_, losses_);
    });
    for (size_t l = 0; l < network_.layers.size(); ++l) {
      ParallelFor(options_.threads, network_.layers[l].inputs, kWeightRowsAPiece,
                  [&](int64_t begin, int64_t end, int worker) {
                    UpdateWeights(l, rows, begin, end, rate, gradients_[worker]);
                  });
      UpdateBias(l, rows, rate);
    }
    return std::accumulate(losses_.begin(), losses_.begin() + rows, 0.0);
  }

 private:
  void UpdateWeights(size_t l, int64_t rows, int64_t begin, int64_t end, float rate,
                     std::span<float> gradient) {
    Layer& layer = network_.layers[l];
    WeightGradient(network_, l, values_, deltas_, rows, begin, end - begin, gradient);
    float* weights = &layer.weights[begin * layer.outputs];
    float* velocity = &velocity_.layers[l].weights[begin * layer.outputs];
    const float layer_rate = rate / static_cast<float>(layer.inputs);
    const float kept = 1.0f - rate * options_.weight_decay;
    for (int64_t i = 0; i < (end - begin) * layer.outputs; ++i) {
      velocity[i] = options_.momentum * velocity[i] + gradient[i];
      weights[i] = kept * weights[i] - layer_rate * velocity[i];
    }
  }

  void UpdateBias(size_t l, int64_t rows, float rate) {
    Layer& layer = network_.layers[l];
    BiasGradient(network_, l, deltas_, rows, gradients_[0]);
    std::vector<float>& velocity = velocity_.layers[l].bias;
    for (int64_t o = 0; o < layer.outputs; ++o) {
      velocity[o] = options_.momentum * velocity[o] + gradients_[0][o];
      layer.bias[o] -= rate * velocity[o];
    }
  }

  const MatrixView inputs_;
  const std::span<const int32_t> labels_;
  const BaseModelOptions& options_;
  Network& network_;
  Network velocity_;
  LayerValues values_, deltas_;
  std::vector<int32_t> batch_labels_;
  std::vector<double> losses_;
  std::vector<std::vector<float>> transposed_;
  std::vector<std::vector<float>> gradients_;  // scratch of each worker
};

Status CheckOption(const char* name, double value, bool allowed, const char* rule) {
  if (allowed) return Status();
  return Status(ErrorCode::kInvalidArgument, Text(name, " is ", value, ", but must be ", rule));
}

Status CheckOptions(const BaseModelOptions& options) {
  constexpr int64_t kMost = 65536;
  const auto share = [](float x) { return x >= 0 && x < 1; };
  RESMEM_RETURN_IF_ERROR(CheckOption("hidden", static_cast<double>(options.hidden),
                                     options.hidden >= 0 && options.hidden <= kMost,
                                     "0 (a linear model) to 65536"));
  RESMEM_RETURN_IF_ERROR(CheckOption("epochs", static_cast<double>(options.epochs),
                                     options.epochs >= 1 && options.epochs <= 1000000,
                                     "1 to 1000000"));
  RESMEM_RETURN_IF_ERROR(CheckOption("batch", static_cast<double>(options.batch),
                                     options.batch >= 1 && options.batch <= kMost, "1 to 65536"));
  RESMEM_RETURN_IF_ERROR(CheckOption(
      "learning_rate", options.learning_rate,
      options.learning_rate > 0 && std::isfinite(options.learning_rate), "above 0 and finite"));
  RESMEM_RETURN_IF_ERROR(
      CheckOption("momentum", options.momentum, share(options.momentum), "in [0, 1)"));
  return CheckOption("weight_decay", options.weight_decay, share(options.weight_decay),
                     "in [0, 1)");
}

}  // namespace

double RateShare(int64_t step, int64_t steps) {
  const int64_t warm_up = steps / 20;
  if (step < warm_up) return static_cast<double>(step + 1) / static_cast<double>(warm_up + 1);
  const double way = static_cast<double>(step - warm_up) / static_cast<double>(steps - warm_up);
  return 0.5 * (1.0 + std::cos(std::numbers::pi * way));
}

Status CheckTraining(MatrixView inputs, std::span<const int32_t> labels, int64_t classes,
                     const BaseModelOptions& options) {
  RESMEM_RETURN_IF_ERROR(CheckOptions(options));
  if (inputs.rows < 1 || inputs.columns < 1) {
    return Status(ErrorCode::kBadData, Text("inputs are ", inputs.rows, " x ", inputs.columns,
                                            ", but training needs a row and a column"));
  }
  if (static_cast<int64_t>(labels.size()) != inputs.rows) {
    return Status(ErrorCode::kBadData, Text("inputs have ", inputs.rows, " rows, but there are ",
                                            labels.size(), " labels; give one label a row"));
  }
  if (classes < 2 || classes > (int64_t{1} << 24)) {
    return Status(ErrorCode::kInvalidArgument,
                  Text("classes is ", classes, ", but must be 2 to 16777216"));
  }
  for (size_t row = 0; row < labels.size(); ++row) {
    if (labels[row] >= 0 && labels[row] < classes) continue;
    return Status(ErrorCode::kBadData,
                  Text("labels: row ", row, " is ", labels[row], ", but with ", classes,
                       " classes 0 to ", classes - 1, " are allowed"));
  }
  const int64_t wide = std::max(options.hidden, classes);
  const int64_t deep = std::max({inputs.columns, options.hidden, options.batch});
  const auto largest = CheckedMultiply(std::max(wide, inputs.columns), deep);
  if (!largest || *largest > kMaxParameters) {
    return Status(
        ErrorCode::kInvalidArgument,
        Text("a model of ", inputs.columns, " inputs, ", options.hidden, " hidden units, ", classes,
             " classes and batches of ", options.batch, " has a matrix of more than ",
             kMaxParameters, " values; choose fewer hidden units or a smaller batch"));
  }
  return CheckInputsFinite(inputs, options.threads);
}

Result<Network> TrainNetwork(MatrixView inputs, std::span<const int32_t> labels, int64_t classes,
                             std::span<const int64_t> rows, const BaseModelOptions& options,
                             std::string_view stage) {
  Network network = MakeNetwork(inputs.columns, options.hidden, classes);
  network.standardizer = FitStandardizer(inputs, rows, options.threads);
  Initialize(options.seed, &network);
  std::vector<int64_t> order(rows.begin(), rows.end());
  const int64_t count = static_cast<int64_t>(order.size());
  const int64_t batch = std::min(options.batch, count);
  Trainer trainer(inputs, labels, batch, options, &network);

  const int64_t steps_an_epoch = (count + batch - 1) / batch;
  const int64_t steps = steps_an_epoch * options.epochs;
  int64_t step = 0;
  for (int64_t epoch = 0; epoch < options.epochs; ++epoch) {
    Random random(options.seed, 1000 + static_cast<uint64_t>(epoch));
    for (int64_t i = count - 1; i > 0; --i) {
      std::swap(order[i], order[random.Below(static_cast<uint64_t>(i) + 1)]);
    }
    for (int64_t begin = 0; begin < count; begin += batch, ++step) {
      if (options.progress != nullptr) {
        if (options.progress->Cancelled()) {
          return Status(ErrorCode::kCancelled, "training was stopped; no model was made");
        }
        options.progress->Report(stage, step, steps);
      }
      const int64_t size = std::min(batch, count - begin);
      const double rate = RateShare(step, steps) * options.learning_rate;
      const double loss =
          trainer.Step(std::span(order).subspan(begin, size), static_cast<float>(rate));
      if (!std::isfinite(loss)) {
        return Status(ErrorCode::kInvalidArgument,
                      Text("training diverged in epoch ", epoch + 1, " of ", options.epochs,
                           " with learning_rate ", options.learning_rate,
                           ": the loss is no longer finite; try ", options.learning_rate / 10));
      }
    }
  }
  if (options.progress != nullptr) options.progress->Report(stage, steps, steps);
  return network;
}

}  // namespace resmem
