#include "transformer/window_pass.h"

#include <algorithm>
#include <cmath>

namespace resmem {
namespace {

// Places of dropout; those of layer l begin at kPlaces * (l + 1), the heads' behind the others.
enum Place : uint64_t { kEmbedding, kLast };
enum LayerPlace : uint64_t { kProjection, kHidden, kContraction, kFirstHead };
constexpr uint64_t kPlaces = 1024;

Dropout LayerDropout(const PlacedWindow& window, int64_t layer, uint64_t place) {
  return window.dropout.At(kPlaces * static_cast<uint64_t>(layer + 1) + place);
}

}  // namespace

void Weights::SetValues(const float* parameters) {
  values = parameters;
  const int64_t size = BiasSize(context);
  bias.assign(static_cast<size_t>(shape.heads * size), 0.0f);
  const float* table = At(layout.position_bias);
  for (int64_t head = 0; head < shape.heads; ++head) {
    for (int64_t distance = 0; distance < context; ++distance) {
      bias[static_cast<size_t>(head * size + context - 1 - distance)] =
          table[head * kPositionBuckets + PositionBucket(distance)];
    }
  }
}

WindowPass::WindowPass(const LanguageModelShape& shape, int64_t context)
    : shape_(shape),
      // Sixteen more: rows a power of two apart fall onto each other in the cache.
      product_stride_(std::max(3 * shape.dim, shape.hidden) + 16),
      product_(context * product_stride_),
      row_(std::max(shape.dim, shape.hidden)),
      attended_gradient_(context, shape.dim),
      attention_(context, shape.head_dim()) {}

HeadInput WindowPass::HeadOf(const Weights& weights, const PlacedWindow& window,
                             const LayerActivations& layer, int64_t layer_number,
                             int64_t head) const {
  const Bfloat16* first = layer.qkv.Row(window.row) + head * shape_.head_dim();
  const int64_t stride = layer.qkv.stride;
  return {window.length,
          shape_.head_dim(),
          {first, stride},
          {first + shape_.dim, stride},
          {first + 2 * shape_.dim, stride},
          weights.bias.data() + head * Weights::BiasSize(weights.context),
          weights.context,
          LayerDropout(window, layer_number, kFirstHead + static_cast<uint64_t>(head))};
}

void WindowPass::NormRows(const PlacedWindow& window, const float* x, const float* weight,
                          float* scales, RoundedRows* out) {
  for (int64_t i = 0; i < window.length; ++i) {
    const int64_t row = window.row + i;
    scales[row] = NormRow(x + row * shape_.dim, weight, shape_.dim, row_.data());
    RoundToBfloat16(row_.data(), shape_.dim, out->Row(row));
  }
}

void WindowPass::Product(const PlacedWindow& window, const RoundedRows& left, Panels right,
                         int64_t columns) {
  Multiply(window.length, columns, left.columns, left.Row(window.row), left.stride, right, false,
           product_.data(), product_stride_);
}

void WindowPass::AddProduct(const PlacedWindow& window, const Dropout& dropout, const float* x,
                            float* sum) {
  for (int64_t i = 0; i < window.length; ++i) {
    const int64_t first = (window.row + i) * shape_.dim;
    DropRow(dropout, i * shape_.dim, shape_.dim, ProductRow(i));
    std::copy_n(x + first, shape_.dim, sum + first);
    AddRow(ProductRow(i), shape_.dim, sum + first);
  }
}

void WindowPass::Forward(const Weights& weights, const PlacedWindow& window,
                         Activations* activations) {
  const int64_t dim = shape_.dim;
  const float* embedding = weights.At(weights.layout.embedding);
  float* x = activations->layers.front().input.data();
  for (int64_t i = 0; i < window.length; ++i) {
    const int64_t id = i < std::ssize(window.ids) ? window.ids[static_cast<size_t>(i)] : 0;
    float* row = x + (window.row + i) * dim;
    std::copy_n(embedding + id * dim, dim, row);
    DropRow(window.dropout.At(kEmbedding), i * dim, dim, row);
  }
  for (int64_t l = 0; l < shape_.layers; ++l) {
    LayerActivations& layer = activations->layer(l);
    const LayerParameters& parameters = weights.layout.layers[static_cast<size_t>(l)];
    const PackedLayer& packed = weights.packed.layers[static_cast<size_t>(l)];
    NormRows(window, layer.input.data(), weights.At(parameters.attention_norm),
             layer.input_scale.data(), &layer.normed_input);
    Product(window, layer.normed_input, packed.qkv.Forward(), 3 * dim);
    for (int64_t i = 0; i < window.length; ++i) {
      RoundToBfloat16(ProductRow(i), 3 * dim, layer.qkv.Row(window.row + i));
    }
    for (int64_t head = 0; head < shape_.heads; ++head) {
      const int64_t probabilities = head * Bfloat16Stride(weights.context);
      attention_.Forward(
          HeadOf(weights, window, layer, l, head),
          {layer.probabilities.Row(window.row) + probabilities, layer.probabilities.stride},
          {layer.attended.Row(window.row) + head * shape_.head_dim(), layer.attended.stride});
    }
    Product(window, layer.attended, packed.projection.Forward(), dim);
    AddProduct(window, LayerDropout(window, l, kProjection), layer.input.data(),
               layer.middle.data());
    NormRows(window, layer.middle.data(), weights.At(parameters.mlp_norm),
             layer.middle_scale.data(), &layer.normed_middle);
    Product(window, layer.normed_middle, packed.expansion.Forward(), shape_.hidden);
    const Dropout dropout = LayerDropout(window, l, kHidden);
    for (int64_t i = 0; i < window.length; ++i) {
      ReluRow(shape_.hidden, ProductRow(i));
      DropRow(dropout, i * shape_.hidden, shape_.hidden, ProductRow(i));
      RoundToBfloat16(ProductRow(i), shape_.hidden, layer.hidden.Row(window.row + i));
    }
    Product(window, layer.hidden, packed.contraction.Forward(), dim);
    float* next =
        l + 1 < shape_.layers ? activations->layer(l + 1).input.data() : activations->last.data();
    AddProduct(window, LayerDropout(window, l, kContraction), layer.middle.data(), next);
  }
  const Dropout dropout = window.dropout.At(kLast);
  const float scale = 1 / std::sqrt(static_cast<float>(dim));
  for (int64_t i = 0; i < window.length; ++i) {
    const int64_t row = window.row + i;
    activations->last_scale[row] = NormRow(activations->last.data() + row * dim,
                                           weights.At(weights.layout.last_norm), dim, row_.data());
    DropRow(dropout, i * dim, dim, row_.data());
    ScaleRow(scale, dim, row_.data());
    RoundToBfloat16(row_.data(), dim, activations->normed_last.Row(row));
  }
}

void WindowPass::RoundGradient(const PlacedWindow& window, const Dropout& dropout,
                               const float* gradient, RoundedRows* out) {
  for (int64_t i = 0; i < window.length; ++i) {
    const int64_t row = window.row + i;
    std::copy_n(gradient + row * shape_.dim, shape_.dim, row_.data());
    DropRow(dropout, i * shape_.dim, shape_.dim, row_.data());
    RoundToBfloat16(row_.data(), shape_.dim, out->Row(row));
  }
}

void WindowPass::NormBackward(const PlacedWindow& window, const float* x, const float* weight,
                              const float* scales, float* x_gradient,
                              float* weight_gradient) const {
  for (int64_t i = 0; i < window.length; ++i) {
    const int64_t row = window.row + i, first = row * shape_.dim;
    NormRowBackward(x + first, weight, scales[row], ProductRow(i), shape_.dim, x_gradient + first,
                    weight_gradient);
  }
}

void WindowPass::Backward(const Weights& weights, const PlacedWindow& window,
                          Activations* activations, WindowGradients* gradients) {
  const int64_t dim = shape_.dim;
  float* gradient = activations->gradient.data();
  const float scale = 1 / std::sqrt(static_cast<float>(dim));
  for (int64_t i = 0; i < window.length; ++i) {
    float* row = gradient + (window.row + i) * dim;
    std::copy_n(row, dim, ProductRow(i));
    DropRow(window.dropout.At(kLast), i * dim, dim, ProductRow(i));
    ScaleRow(scale, dim, ProductRow(i));
    std::fill_n(row, dim, 0.0f);
  }
  NormBackward(window, activations->last.data(), weights.At(weights.layout.last_norm),
               activations->last_scale.data(), gradient,
               gradients->norms.data() + 2 * shape_.layers * dim);
  for (int64_t l = shape_.layers - 1; l >= 0; --l) {
    LayerActivations& layer = activations->layers[static_cast<size_t>(l)];
    const LayerParameters& parameters = weights.layout.layers[static_cast<size_t>(l)];
    const PackedLayer& packed = weights.packed.layers[static_cast<size_t>(l)];
    float* norms = gradients->norms.data() + 2 * l * dim;
    RoundGradient(window, LayerDropout(window, l, kContraction), gradient,
                  &layer.contraction_gradient);
    Product(window, layer.contraction_gradient, packed.contraction.Backward(), shape_.hidden);
    for (int64_t i = 0; i < window.length; ++i) {
      // What dropout has taken away is 0 there as well.
      ReluRowBackward(layer.hidden.Row(window.row + i), window.dropout.scale, shape_.hidden,
                      ProductRow(i));
      RoundToBfloat16(ProductRow(i), shape_.hidden, layer.expansion_gradient.Row(window.row + i));
    }
    Product(window, layer.expansion_gradient, packed.expansion.Backward(), dim);
    NormBackward(window, layer.middle.data(), weights.At(parameters.mlp_norm),
                 layer.middle_scale.data(), gradient, norms + dim);
    RoundGradient(window, LayerDropout(window, l, kProjection), gradient,
                  &layer.projection_gradient);
    Product(window, layer.projection_gradient, packed.projection.Backward(), dim);
    for (int64_t i = 0; i < window.length; ++i) {
      RoundToBfloat16(ProductRow(i), dim, attended_gradient_.Row(i));
    }
    for (int64_t head = 0; head < shape_.heads; ++head) {
      const int64_t first = head * shape_.head_dim();
      Bfloat16* out = layer.qkv_gradient.Row(window.row) + first;
      const int64_t stride = layer.qkv_gradient.stride;
      attention_.Backward(
          HeadOf(weights, window, layer, l, head),
          {layer.probabilities.Row(window.row) + head * Bfloat16Stride(weights.context),
           layer.probabilities.stride},
          {attended_gradient_.Row(0) + first, attended_gradient_.stride}, {out, stride},
          {out + dim, stride}, {out + 2 * dim, stride},
          gradients->bias.data() + head * Weights::BiasSize(weights.context));
    }
    Product(window, layer.qkv_gradient, packed.qkv.Backward(), dim);
    NormBackward(window, layer.input.data(), weights.At(parameters.attention_norm),
                 layer.input_scale.data(), gradient, norms);
  }
  for (int64_t i = 0; i < window.length; ++i) {
    DropRow(window.dropout.At(kEmbedding), i * dim, dim, gradient + (window.row + i) * dim);
  }
}

}  // namespace resmem
