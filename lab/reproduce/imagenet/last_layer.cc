#include "reproduce/imagenet/last_layer.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base_model/gemm.h"
#include "support/parallel.h"
#include "support/random.h"

namespace resmem::cli::reproduce::imagenet {
namespace {

constexpr uint64_t kOrderStream = uint64_t{5} << 60;
constexpr int64_t kRowsAPiece = 64;

// In place: logits to probabilities.  The label's -log.
double Softmax(std::span<float> line, int32_t label) {
  const float largest = *std::max_element(line.begin(), line.end());
  const double of_label = double{line[static_cast<size_t>(label)]} - largest;
  double sum = 0;
  for (float& value : line) {
    value = std::exp(value - largest);
    sum += value;
  }
  for (float& value : line) value = static_cast<float>(value / sum);
  return std::log(sum) - of_label;
}

double MeanNll(const Embedded& rows) {
  double nll = 0;
  std::vector<float> line;
  for (int64_t row = 0; row < rows.count(); ++row) {
    const float* const logits = rows.logits.data() + row * rows.classes;
    line.assign(logits, logits + rows.classes);
    nll += Softmax(line, rows.labels[static_cast<size_t>(row)]);
  }
  return nll / static_cast<double>(rows.count());
}

float RootMeanSquareLength(const Embedded& rows) {
  double squares = 0;
  for (const float value : rows.keys) squares += double{value} * value;
  return squares == 0 ? 1
                      : static_cast<float>(std::sqrt(squares / static_cast<double>(rows.count())));
}

// One descent at one rate; keeps the best epoch of all descents in `best`.
class Descent {
 public:
  Descent(const Embedded& learn, const LastLayerOptions& options, double rate, LastLayer* layer)
      : learn_(learn), options_(options), rate_(rate), layer_(*layer) {
    speed_.assign(layer_.weights.size() + layer_.offset.size(), 0);
    gradient_.resize(layer_.weights.size());
    order_.resize(static_cast<size_t>(learn.count()));
    std::iota(order_.begin(), order_.end(), 0);
  }

  void Epoch(int64_t epoch) {
    Random random(options_.seed, kOrderStream + static_cast<uint64_t>(epoch));
    for (size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random.Below(i)]);
    const int64_t batches = (learn_.count() + options_.batch - 1) / options_.batch;
    for (int64_t i = 0; i < batches; ++i) {
      const double done =
          (static_cast<double>(epoch) + static_cast<double>(i) / static_cast<double>(batches)) /
          static_cast<double>(options_.epochs);
      const auto begin = static_cast<size_t>(i * options_.batch);
      const size_t count = std::min(static_cast<size_t>(options_.batch), order_.size() - begin);
      Step(std::span(order_).subspan(begin, count),
           static_cast<float>(rate_ * (1 + std::cos(std::numbers::pi * done)) / 2));
    }
  }

 private:
  void Step(std::span<const int64_t> rows, float rate) {
    Embedded batch = learn_.Take(rows);
    batch = layer_.Apply(std::move(batch), options_.threads);
    const auto classes = static_cast<size_t>(batch.classes);
    const auto share = 1 / static_cast<float>(rows.size());
    std::vector<float> offset(classes);
    for (size_t row = 0; row < rows.size(); ++row) {
      const std::span<float> line(batch.logits.data() + row * classes, classes);
      Softmax(line, batch.labels[row]);
      line[static_cast<size_t>(batch.labels[row])] -= 1;
      for (size_t c = 0; c < classes; ++c) {
        line[c] *= share;
        offset[c] += line[c];
      }
    }
    // dim x classes: the keys, transposed, times what the answers were off by.
    ParallelFor(options_.threads, batch.dim, kRowsAPiece, [&](int64_t begin, int64_t end, int) {
      Multiply(end - begin, batch.classes, batch.count(), {batch.keys.data() + begin, 1, batch.dim},
               batch.logits.data(), batch.classes, gradient_.data() + begin * batch.classes,
               batch.classes);
    });
    constexpr float kMomentum = 0.9f;
    for (size_t i = 0; i < gradient_.size(); ++i) {
      speed_[i] = kMomentum * speed_[i] + gradient_[i] / layer_.scale;
      layer_.weights[i] -= rate * speed_[i];
    }
    for (size_t c = 0; c < classes; ++c) {
      float& speed = speed_[gradient_.size() + c];
      speed = kMomentum * speed + offset[c];
      layer_.offset[c] -= rate * speed;
    }
  }

  const Embedded& learn_;
  const LastLayerOptions& options_;
  double rate_;
  LastLayer& layer_;
  std::vector<float> speed_, gradient_;
  std::vector<int64_t> order_;
};

}  // namespace

Embedded LastLayer::Apply(Embedded rows, int threads) const {
  const int64_t classes = rows.classes;
  std::vector<float> change(rows.logits.size());
  ParallelFor(threads, rows.count(), kRowsAPiece, [&](int64_t begin, int64_t end, int) {
    Multiply(end - begin, classes, rows.dim, {rows.keys.data() + begin * rows.dim, rows.dim, 1},
             weights.data(), classes, change.data() + begin * classes, classes);
    for (int64_t i = begin * classes; i < end * classes; ++i) {
      const auto at = static_cast<size_t>(i);
      rows.logits[at] += change[at] / scale + offset[static_cast<size_t>(i % classes)];
    }
  });
  return rows;
}

Result<LastLayer> FitLastLayer(const Embedded& learn, const Embedded& held_out,
                               const LastLayerOptions& options) {
  LastLayer start;
  start.scale = RootMeanSquareLength(learn);
  start.weights.assign(static_cast<size_t>(learn.dim * learn.classes), 0);
  start.offset.assign(static_cast<size_t>(learn.classes), 0);
  double least = MeanNll(held_out);
  start.chosen = {{"rate", 0}, {"epoch", 0}, {"nll", least}, {"nll_before", least}};
  LastLayer best = start;
  int64_t done = 0;
  const int64_t all = std::ssize(options.rates) * options.epochs;
  for (const double rate : options.rates) {
    LastLayer layer = start;
    Descent descent(learn, options, rate, &layer);
    for (int64_t epoch = 0; epoch < options.epochs; ++epoch) {
      if (options.progress != nullptr) {
        if (options.progress->Cancelled()) return Status(ErrorCode::kCancelled, "stopped");
        options.progress->Report("fitting the last layer", done++, all);
      }
      descent.Epoch(epoch);
      const double nll = MeanNll(layer.Apply(held_out, options.threads));
      if (!(nll < least)) continue;
      least = nll;
      best = layer;
      best.chosen["rate"] = rate;
      best.chosen["epoch"] = epoch + 1;
      best.chosen["nll"] = nll;
    }
  }
  return best;
}

}  // namespace resmem::cli::reproduce::imagenet
