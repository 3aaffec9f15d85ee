#include "transformer/shape.h"

#include <algorithm>
#include <cmath>

#include "support/random.h"
#include "support/text.h"

namespace resmem {

int64_t PositionBucket(int64_t distance) {
  constexpr int64_t kExact = kPositionBuckets / 2, kMostDistance = 128;
  if (distance < kExact) return distance;
  const double share = std::log(static_cast<double>(distance) / kExact) /
                       std::log(static_cast<double>(kMostDistance) / kExact);
  const auto bucket = kExact + static_cast<int64_t>(share * (kPositionBuckets - kExact));
  return std::min(bucket, kPositionBuckets - 1);
}

// The deviations are those of T5's own initialization.
ParameterLayout::ParameterLayout(const LanguageModelShape& shape, double embedding_deviation) {
  const auto add = [this](std::string name, int64_t rows, int64_t columns, double deviation) {
    Parameter parameter{std::move(name), rows, columns, size, deviation};
    size += parameter.size();
    return parameter;
  };
  const auto root = [](int64_t n) { return 1.0 / std::sqrt(static_cast<double>(n)); };
  embedding = add("embedding", shape.vocabulary, shape.dim, embedding_deviation);
  position_bias = add("position_bias", shape.heads, kPositionBuckets, root(shape.dim));
  for (int64_t l = 0; l < shape.layers; ++l) {
    const std::string prefix = Text("layer", l, ".");
    LayerParameters layer;
    layer.attention_norm = add(prefix + "attention_norm", 1, shape.dim, 0);
    layer.qkv = add(prefix + "qkv", 3 * shape.dim, shape.dim, root(shape.dim));
    layer.projection = add(prefix + "projection", shape.dim, shape.dim, root(shape.dim));
    layer.mlp_norm = add(prefix + "mlp_norm", 1, shape.dim, 0);
    layer.expansion = add(prefix + "expansion", shape.hidden, shape.dim, root(shape.dim));
    layer.contraction = add(prefix + "contraction", shape.dim, shape.hidden, root(shape.hidden));
    layers.push_back(std::move(layer));
  }
  last_norm = add("last_norm", 1, shape.dim, 0);
}

std::vector<const Parameter*> ParameterLayout::All() const {
  std::vector<const Parameter*> all = {&embedding, &position_bias};
  for (const LayerParameters& layer : layers) {
    all.insert(all.end(), {&layer.attention_norm, &layer.qkv, &layer.projection, &layer.mlp_norm,
                           &layer.expansion, &layer.contraction});
  }
  all.push_back(&last_norm);
  return all;
}

std::vector<float> FirstParameters(const ParameterLayout& layout, uint64_t seed) {
  std::vector<float> values(static_cast<size_t>(layout.size), 1.0f);
  const std::vector<const Parameter*> all = layout.All();
  for (size_t p = 0; p < all.size(); ++p) {
    if (all[p]->deviation == 0) continue;
    Random random(seed, p);
    float* first = values.data() + all[p]->offset;
    std::generate_n(first, all[p]->size(),
                    [&] { return static_cast<float>(random.Normal() * all[p]->deviation); });
  }
  // No scale divides queries times keys: it is in the queries' first values.
  for (const LayerParameters& layer : layout.layers) {
    const int64_t dim = layer.qkv.columns;
    const auto head_dim = static_cast<double>(dim / layout.position_bias.rows);
    float* queries = values.data() + layer.qkv.offset;
    for (int64_t i = 0; i < dim * dim; ++i) {
      queries[i] *= static_cast<float>(1.0 / std::sqrt(head_dim));
    }
  }
  return values;
}

}  // namespace resmem
